"""Copies of a hand-in, disguised as somebody may who does not want it to be seen."""

import ast
import random
import re
from collections.abc import Callable
from dataclasses import replace

from independent_students import ANY_NAME, Written, answer, own_attributes, rename, reordered, solutions

Disguise = Callable[[Written, str, random.Random], Written]


def as_it_is(written: Written, lesson: str, chance: random.Random) -> Written:
    """Another name on it."""
    return written


def names(written: Written, lesson: str, chance: random.Random) -> Written:
    """Every variable, parameter, and attribute that no check asks for, is called something else."""
    return _each(written, lambda source, exercise: _renamed(source, solutions(lesson)[exercise], chance))


def _renamed(source: str, solution: str, chance: random.Random) -> str:
    given = own_attributes(ast.parse(solution))
    new: dict[str, str] = {}

    def name_for(name: str) -> str:
        if name not in new and name not in given:
            left = [each for each in ANY_NAME if each not in new.values() and each != name]
            new[name] = chance.choice(left or [f"{name}_new"])
        return new.get(name, name)

    tree = ast.parse(source)
    rename(tree, name_for, everything=True)
    comments, lines = re.findall(r"#.*", source), ast.unparse(tree).splitlines()
    for place, comment in zip(sorted(chance.choices(range(len(lines)), k=len(comments))), comments, strict=True):
        lines[place] += f"  {comment}"
    return "\n".join(lines)


def comments_changed(written: Written, lesson: str, chance: random.Random) -> Written:
    """Each comment is said in other words, of which one or two are the same."""

    def change(source: str, exercise: str) -> str:
        return re.sub(r"# (.*)", lambda match: f"# so, {match[1].split()[-1]} " + chance.choice(ANY_NAME), source)

    return _each(written, change)


def comments_dropped(written: Written, lesson: str, chance: random.Random) -> Written:
    """No comment and no docstring is left."""
    return _each(written, lambda source, exercise: ast.unparse(_undocumented(ast.parse(source))))


def _undocumented(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def statements_reordered(written: Written, lesson: str, chance: random.Random) -> Written:
    """Statements that do not need each other stand in another order; comments are gone."""

    def reorder(source: str, exercise: str) -> str:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body = reordered(node.body, chance)
        return ast.unparse(tree)

    return _each(written, reorder)


def formatted(written: Written, lesson: str, chance: random.Random) -> Written:
    """Other spaces, other line breaks, more parentheses."""

    def reformat(source: str, exercise: str) -> str:
        text = source.replace("    ", "  ").replace(", ", ",").replace(" = ", "=")
        text = re.sub(r"^( *)return ([^#\n]+?)( *#.*)?$", r"\1return (\2)\3", text, flags=re.MULTILINE)
        return text.replace("\n", "\n\n")

    return _each(written, reformat)


def rewritten(count: int) -> Disguise:
    """So many exercises are somebody's own work."""

    def rewrite(written: Written, lesson: str, chance: random.Random) -> Written:
        exercises = chance.sample(sorted(written.answers), min(count, len(written.answers)))
        made, slips = dict(written.answers), dict(written.slips)
        for exercise in exercises:
            source, slip = answer(lesson, exercise, chance)
            slips.pop(exercise, None)
            made[exercise] = source or solutions(lesson)[exercise]
            if slip:
                slips[exercise] = slip
        return replace(written, answers=made, slips=slips)

    return rewrite


def own_cells_dropped(written: Written, lesson: str, chance: random.Random) -> Written:
    """No cell of their own is left."""
    return replace(written, cells=[])


def _each(written: Written, change: Callable[[str, str], str]) -> Written:
    made = {exercise: change(source, exercise) for exercise, source in written.answers.items()}
    return replace(written, answers=made)


ALL = (names, comments_dropped, statements_reordered, formatted, own_cells_dropped)
KINDS: dict[str, tuple[Disguise, ...]] = {
    "as it is": (as_it_is,),
    "other names": (names,),
    "other names, comments changed": (names, comments_changed),
    "other names, no comments": (names, comments_dropped),
    "other names, no cells of their own": (names, own_cells_dropped),
    "other names, other order, no comments": (names, comments_dropped, statements_reordered),
    "other names, other format": (names, formatted),
    "other names, one exercise rewritten": (names, rewritten(1)),
    "other names, two exercises rewritten": (names, rewritten(2)),
    "all of this, no exercise rewritten": ALL,
    "all of this, one exercise rewritten": (*ALL, rewritten(1)),
    "all of this, two exercises rewritten": (*ALL, rewritten(2)),
}


def disguised(written: Written, kind: str, lesson: str, chance: random.Random) -> Written:
    """A copy of this kind."""
    for step in KINDS[kind]:
        written = step(written, lesson, chance)
    return written

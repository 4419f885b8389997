"""The grammar of a lesson: what every notebook in solutions/ must look like before students see it.

`breaches(notebook, lesson)` reads a parsed notebook and returns what breaks the grammar, one `Breach` per finding.
Each rule is a small generator over a `Lesson`; the tuples at the end of the file are the table of contents.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder.course.lesson import EXAMPLE, Exercise, Lesson, definition, parse, parse_or_none, rules_of
from autograder.course.predictions import TAG, predictions_are_compared
from autograder.course.written import written_answers_are_whole
from autograder.stub import STUB, code_lines, regions, without_regions

MAX_ANSWER_LINES = 15

EXERCISES = "exercises"  # the id of the cell that names the exercises and counts their checks
PROGRESS = "progress"  # the id of the cell that shows how the checks ended
LESSON_NAME = re.compile(r"\d\d_[a-z0-9]+(_[a-z0-9]+)*")
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]+\]\([^)\s]+\)")
NBGRADER_MARK = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)")


@dataclass(frozen=True)
class Breach:
    """One place where a lesson breaks the grammar, and what to do about it."""

    lesson: str
    cell: str
    text: str
    place: str = ""

    def __str__(self) -> str:
        place = self.place or f"solutions/{self.lesson}/{self.lesson}.ipynb"
        return f"{place}, cell {self.cell}: {self.text}" if self.cell else f"{place}: {self.text}"


Found = Iterator[tuple[str, str]]


def breaches(notebook: dict[str, Any], lesson: str) -> list[Breach]:
    """Return every breach of the grammar in a notebook whose cells have a type, a source and metadata."""
    parsed = Lesson(lesson, notebook)
    problems = [breach for rule in LESSON_RULES for breach in rule(parsed)]
    problems += [breach for exercise in parsed.exercises for rule in EXERCISE_RULES for breach in rule(exercise)]
    return [Breach(lesson, cell, text) for cell, text in problems]


def lesson_is_named(lesson: Lesson) -> Found:
    """A lesson's folder is two digits and words."""
    if not LESSON_NAME.fullmatch(lesson.name):
        yield "", f"`{lesson.name}` is not a lesson's name. Call folder and notebook like `01_attention`."


def title_comes_first(lesson: Lesson) -> Found:
    """The first cell is the title, with number and promise."""
    first = lesson.cells[0] if lesson.cells else None
    if first is None or first.kind != "markdown" or first.id != "title":
        yield "title", "the first cell is not the title. Begin with a markdown cell whose id is `title`."
        return
    lines = first.lines or [""]
    if not re.fullmatch(rf"# {lesson.number} · \S.*", lines[0]):
        yield "title", f"the first line is `{lines[0]}`. Write `# {lesson.number} · ` and the title."
    facts = next((at for at, line in enumerate(lines) if line.startswith("**Paper:**")), len(lines))
    promise = [line for line in lines[1:facts] if not line.startswith("[![")]  # a badge, which release takes out
    if len(promise) != 1 or promise[0].rstrip("*_")[-1:] not in (".", "?", "!"):
        yield "title", "what stands before the facts is not one sentence. Promise in one line what the reader builds."


def facts_are_true(lesson: Lesson) -> Found:
    """The title states paper, exercises, points and minutes as the cells have them, and how long the lesson runs."""
    facts = lesson.facts
    minutes = sum(exercise.minutes for exercise in lesson.exercises)
    paper, stated, seconds = facts.group("paper", "minutes", "seconds") if facts else ("§…", 0, "…")
    line = (
        f"**Paper:** {paper} · **Exercises:** {len(lesson.exercises)} · **Points:** {lesson.points:g}"
        f" · **Time:** about {max(minutes, int(stated))} minutes · **Runs in:** {seconds} seconds"
    )
    if not facts:
        yield "title", f"the line of facts is missing or reads differently. It should read `{line}`."
    elif facts[0] != line:
        yield "title", f"the line of facts does not agree with the exercises. It should read `{line}`."


def setup_and_exercises_follow(lesson: Lesson) -> Found:
    """The second cell is the setup, and the third names the exercises."""
    second, third = lesson.cells[1:2], lesson.cells[2:3]
    if not any(cell.kind == "code" and cell.id == "setup" for cell in second):
        yield "setup", "the second cell is not the setup. Put a code cell `setup` there; release fills it in."
    if not any(cell.kind == "code" and cell.id == EXERCISES and not cell.nbgrader for cell in third):
        yield EXERCISES, "the third cell is not it. Put a plain code cell of that id there; release fills it in."


def ids_are_unique(lesson: Lesson) -> Found:
    """Every cell has a valid id of its own."""
    for cell in lesson.cells:
        if not CELL_ID.fullmatch(cell.id):
            yield cell.label, "its id is missing or invalid. Give it words of letters, digits, `_` and `-`, at most 64."
    for name, count in Counter(cell.id for cell in lesson.cells if cell.id).items():
        if count > 1:
            yield name, f"{count} cells have this id. Rename or remove the copies."


def marks_stand_where_they_work(lesson: Lesson) -> Found:
    """Solutions are marked in answer cells only, hidden tests in check cells only, TODO in answer cells only."""
    answers = {id(exercise.answer) for exercise in lesson.exercises if exercise.answer} | set(map(id, lesson.written))
    checks = {id(check) for exercise in lesson.exercises for check in exercise.checks}
    for cell in lesson.cells:
        allowed = {"SOLUTION"} if id(cell) in answers else {"HIDDEN TESTS"} if id(cell) in checks else set()
        for mark in NBGRADER_MARK.finditer(cell.source):
            if mark[2] not in allowed:
                yield cell.label, f"`{mark[0]}` has no place here. Move it to an answer or a check, or remove it."
                break
        if "TODO" in cell.source and id(cell) not in answers:
            yield cell.label, "it says TODO, which students search for. Only answer cells may: say it in other words."
        if cell.nbgrader and id(cell) not in answers | checks and cell.id != "setup":
            yield cell.label, "nbgrader knows it, but it belongs to no exercise. Move it, or remove that metadata."


def nothing_is_attached(lesson: Lesson) -> Found:
    """No cell holds an attachment, and no output is an error."""
    for cell in lesson.cells:
        if cell.raw.get("attachments"):
            yield cell.label, "it holds an attached file. Draw the picture with code instead."
        for output in cell.raw.get("outputs", []):
            if output.get("output_type") == "error":
                yield cell.label, f"its output is an error ({output.get('ename')}). Mend the cell and run the notebook."
                break


def code_compiles(lesson: Lesson) -> Found:
    """Every code cell is valid Python, without a warning from the compiler."""
    for cell in lesson.cells:
        if cell.kind != "code" or cell.id == "setup":
            continue
        try:
            parse(cell.source)
        except (SyntaxError, ValueError) as error:
            line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
            yield cell.label, f"it is not valid Python: {getattr(error, 'msg', error)}{line}. Mend it."


def ending_is_complete(lesson: Lesson) -> Found:
    """The lesson ends in what was learned, with a table, and what comes next, with a link."""
    tasks = [position for position, cell in enumerate(lesson.cells) if cell.id.startswith("exercise_")]
    rest = lesson.cells[max(tasks, default=0) :]
    learned = [cell for cell in rest if cell.kind == "markdown" and cell.source.startswith("## What you learned")]
    if not learned:
        yield "", "after the last exercise there is no cell `## What you learned`. Add it, with a table."
    elif not TABLE_RULE.search(learned[0].source):
        yield learned[0].label, "it has no table. Add one: name, shape, paper."
    last = lesson.cells[-1] if lesson.cells else None
    if last is None or last.kind != "markdown" or not last.source.startswith("## Next"):
        yield last.label if last else "", "the last cell is not `## Next`. End with one sentence and a link."
    elif not LINK.search(last.source):
        yield last.label, "it holds no link. Link to what comes next."


def progress_precedes_the_ending(lesson: Lesson) -> Found:
    """The cell that shows what is solved and what is left stands before what was learned."""
    ids = [cell.id for cell in lesson.cells]
    if PROGRESS not in ids:
        yield "", f"it has no cell `{PROGRESS}`. Put a code cell of that id before `## What you learned`."
        return
    at = ids.index(PROGRESS)
    cell, following = lesson.cells[at], lesson.cells[at + 1 : at + 2]
    if cell.kind != "code" or cell.nbgrader:
        yield PROGRESS, "it is no plain code cell. Make it code, without nbgrader's marks; release fills it in."
    if not any(after.source.startswith("## What you learned") for after in following):
        yield PROGRESS, "`## What you learned` does not follow it. Move it there: it shows what all checks said."


def exercises_are_numbered(lesson: Lesson) -> Found:
    """Exercises have an id of their kind and count 1, 2, 3 … behind the lesson's number."""
    for cell in lesson.cells:
        if cell.source.startswith("### Exercise") and not cell.id.startswith("exercise_"):
            yield cell.label, "it reads like an exercise. Give it the id `exercise_` and the name of the answer."
    for count, exercise in enumerate(lesson.exercises, start=1):
        first = (exercise.task.lines or [""])[0]
        beginning = f"### Exercise {lesson.number}.{count} · "
        if not first.startswith(beginning) or first == beginning.strip():
            yield exercise.task.label, f"the first line is `{first}`. Write `{beginning}` and a title."


def effort_is_stated(exercise: Exercise) -> Found:
    """The second line of a task gives its points and its minutes."""
    task = exercise.task
    if not exercise.effort:
        yield task.label, "the second line does not give the effort. Write it like `*4 points · 15 minutes*`."


def hints_are_given(exercise: Exercise) -> Found:
    """A task has two or three hints and an example, each with a summary, in which nothing is marked up."""
    task = exercise.task
    opened = task.source.count("<details>")
    hints = exercise.hints
    by_symptom = opened - sum(hint.title == EXAMPLE for hint in hints[-1:])
    if not 2 <= by_symptom <= 3:
        yield task.label, f"it has {by_symptom} of two or three hints. Write each as a `<details>` block."
    elif len(hints) != opened or not all(hint.title and hint.text.strip() for hint in hints):
        yield task.label, "a hint is not whole. Write `<details><summary>symptom</summary>`, text, `</details>`."
    elif any("`" in hint.title for hint in hints):
        yield task.label, "the title of a hint has a backtick, which is shown as it is. Write it without."
    elif by_symptom == opened:
        yield task.label, f"its hints do not end in `{EXAMPLE}`. Go through the same thing there by hand, without code."


def answer_follows(exercise: Exercise) -> Found:
    """Directly after the task stands the answer cell, named like the exercise."""
    answer, name = exercise.answer, exercise.name
    if answer is None:
        yield name, f"it does not follow its task. Put the answer, a code cell with the id `{name}`, right after it."
        return
    if answer.id != name:
        yield answer.label, f"the exercise is called `{name}`, its answer `{answer.id}`. Give them the same name."
    if not answer.is_answer or answer.is_graded or answer.is_locked:
        yield answer.label, "nbgrader does not take it as an answer. Set solution true, grade and locked false."


def answer_can_be_stripped(exercise: Exercise) -> Found:
    """An answer keeps a TODO, a docstring and valid Python when its solution regions are taken out."""
    answer, name = exercise.answer, exercise.name
    if answer is None:
        return
    solutions = regions(answer.source, "SOLUTION")
    if not solutions:
        yield answer.label, "it has no whole solution. Put it between `### BEGIN SOLUTION` and `### END SOLUTION`."
        return
    for region in solutions:
        if not 1 <= len(code_lines(region)) <= MAX_ANSWER_LINES:
            count = len(code_lines(region))
            yield answer.label, f"a solution has {count} lines of code. Keep it between 1 and {MAX_ANSWER_LINES}."
    stripped = without_regions(answer.source, "SOLUTION", STUB)
    if "TODO" not in stripped:
        yield answer.label, "no TODO stands outside the solution. Give the plan there, in one line."
    if parse_or_none(answer.source) is None:
        return
    if parse_or_none(stripped) is None:
        yield answer.label, "without its solution it is not valid Python. Let the region take whole statements."
    elif not (defined := definition(parse(stripped), name)):
        yield answer.label, f"outside the solution nothing defines `{name}`. Define it at the top level."
    elif not ast.get_docstring(defined):
        yield answer.label, f"`{name}` has no docstring outside the solution. Describe it there, with its shapes."


def checks_are_named_and_locked(exercise: Exercise) -> Found:
    """An exercise has a check, and each is a locked, graded code cell named after it."""
    if not exercise.checks:
        yield exercise.task.label, f"nothing checks it. Add a graded cell with the id `check_{exercise.name}`."
    for check in exercise.checks:
        name = f"check_{exercise.name}"
        if check.id != name and not check.id.startswith(f"{name}_"):
            yield check.label, f"it checks `{exercise.name}`. Call it `{name}` or `{name}_` and a behaviour."
        if check.kind != "code" or not (check.is_graded and check.is_locked) or check.is_answer:
            yield check.label, "nbgrader does not take it as a check. Make it code, graded, locked, no solution."
        elif check.points <= 0:
            yield check.label, "it is worth nothing. Give it points."


def checks_name_their_exercise(exercise: Exercise) -> Found:
    """What a check says of its exercise is the number of the heading and the name of the answer."""
    wanted = f"{exercise.number} {exercise.name}"
    for check in exercise.checks:
        for said in dict.fromkeys(rule.exercise for rule in rules_of(check.source)):
            if exercise.number and said != wanted:
                yield check.label, f'it says `@check.exercise("{said}")`. Write "{wanted}", as the task has it.'


def checks_end_in_print(exercise: Exercise) -> Found:
    """A check ends in no bare expression but print, for students and for the grader."""
    for check in exercise.checks:
        for source in (check.source, without_regions(check.source, "HIDDEN TESTS")):
            module = parse_or_none(source)
            match module.body[-1:] if module else []:
                case [ast.Expr(value=ast.Call(func=ast.Name(id="print")))]:
                    continue
                case [ast.Expr() as last]:
                    line = ast.unparse(last).splitlines()[0]
                    yield check.label, f"it ends in `{line}`, which nbgrader reads as a score. End in a call to print."
                    break


def checks_hide_something(exercise: Exercise) -> Found:
    """One check hides tests, and every check shows some."""
    hidden_tests = [(check, regions(check.source, "HIDDEN TESTS")) for check in exercise.checks]
    for check, hidden in hidden_tests:
        visible = without_regions(check.source, "HIDDEN TESTS")
        if hidden is None:
            yield check.label, "its hidden tests are not whole. Pair `### BEGIN HIDDEN TESTS`, `### END HIDDEN TESTS`."
        elif not code_lines(visible.split("\n")):
            yield check.label, "students see no test in it. Leave one outside the hidden tests."
        elif hidden and parse_or_none(check.source) and not parse_or_none(visible):
            yield check.label, "without its hidden tests it is not valid Python. Let the region take whole statements."
    if hidden_tests and not any(hidden is None or any(map(code_lines, hidden)) for _, hidden in hidden_tests):
        yield exercise.task.label, "no check of it hides a test. Add one between `### BEGIN HIDDEN TESTS` and its end."


def other_cells_are_tries(exercise: Exercise) -> Found:
    """Between an answer and the next exercise, code that is no check is tagged `try-it`, or asks for a prediction."""
    for cell in exercise.body:
        free = cell.kind == "code" and cell is not exercise.answer and cell not in exercise.checks
        if free and cell.id != PROGRESS and not {"try-it", TAG} & set(cell.tags):
            yield cell.label, "it is neither answer nor check. Tag it `try-it`, or move it to the next section."


LESSON_RULES = (
    lesson_is_named,
    title_comes_first,
    facts_are_true,
    setup_and_exercises_follow,
    ids_are_unique,
    marks_stand_where_they_work,
    written_answers_are_whole,
    nothing_is_attached,
    code_compiles,
    exercises_are_numbered,
    predictions_are_compared,
    progress_precedes_the_ending,
    ending_is_complete,
)
EXERCISE_RULES = (
    effort_is_stated,
    hints_are_given,
    answer_follows,
    answer_can_be_stripped,
    checks_are_named_and_locked,
    checks_name_their_exercise,
    checks_end_in_print,
    checks_hide_something,
    other_cells_are_tries,
)

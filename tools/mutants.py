"""Mutation testing of the checks: each reference answer is changed in one place at a time, and some check must fail.

    PYTHONPATH=tests python tools/mutants.py             # all exercises
    PYTHONPATH=tests python tools/mutants.py EXERCISE …  # these alone

A changed answer that fails no check *survives*. Either it is as right as the answer, and tools/equivalent_mutants.toml
says why, or a check is missing. Prints what survives for no reason, and reasons that nothing needs, and exits with 1
when there is any.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import multiprocessing
import resource
import signal
import sys
import tomllib
import types
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypedDict

import torch
from support.classroom import LESSONS, Classroom, classroom

EQUIVALENT = Path(__file__).parent / "equivalent_mutants.toml"
SECONDS = 5  # of processor time for all checks of one mutant; the slowest exercise takes 0.2
HANGS = 300  # seconds without a verdict, after which a process that uses no time is ended
MEMORY = 4 << 30
FORK = multiprocessing.get_context("fork")

ARITHMETIC = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult]
LOGIC = [ast.BitAnd, ast.BitOr, ast.BitXor]
ORDER = [ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE]
IDENTITY = [ast.Is, ast.IsNot, ast.Eq]
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
OPERATORS = (ARITHMETIC, LOGIC, ORDER, IDENTITY)
RELATIVES = [  # a name is exchanged for each other one of its line
    "softmax log_softmax sigmoid relu tanh",
    "relu gelu leaky_relu silu",
    "sum mean prod max",
    "max min",
    "all any",
    "argmax argmin",
    "sin cos tan",
    "sqrt square rsqrt exp log",
    "zeros ones empty rand",
    "tril triu",
    "var std mean",
    "cat stack hstack",
    "eval train",
    "unsqueeze squeeze",
    "transpose swapaxes view reshape",
    "view reshape",
    "masked_fill masked_fill_",
    "numel dim",
    "size stride",
    "xavier_uniform_ xavier_normal_ kaiming_uniform_ uniform_ zeros_",
    "clip_grad_norm_ clip_grad_value_",
    "parameters buffers named_parameters",
    "Linear Identity Bilinear",
    "LayerNorm RMSNorm BatchNorm1d",
    "Dropout AlphaDropout Dropout1d Identity",
    "Embedding Linear",
    "ModuleList Sequential list",
    "EncoderLayer DecoderLayer",
    "Encoder Decoder",
    "TokenEmbedding PositionalEncoding LearnedPositionalEncoding",
    "causal_mask padding_mask decoder_mask",
    "split_heads merge_heads",
    "encode decode",
    "src_embedding tgt_embedding",
    "cross_entropy nll_loss",
    "no_grad enable_grad",
    "requires_grad is_leaf",
    "shape T",
]


@dataclass(frozen=True)
class Mutant:
    """A reference answer, changed in one place.

    Attributes:
        change: the statement before → after, behind the method's name where the answer is a class.
        code: the whole changed cell.
    """

    change: str
    code: types.CodeType


class Equivalent(TypedDict):
    """Survivors that are as right as the reference answer, and why."""

    why: str
    changes: list[str]


def mutants(source: str) -> list[Mutant]:
    """Make every mutant of an answer; those that Python compiles to the same code count once."""
    tree = ast.parse(source)
    seen, made = {_fingerprint(compile(tree, "answer", "exec"))}, []
    for change in _changes(tree, _solution_lines(source)):
        try:
            with warnings.catch_warnings(action="ignore"):
                code = compile(ast.fix_missing_locations(tree), "<mutant>", "exec")
        except (SyntaxError, ValueError, TypeError):
            continue
        if (fingerprint := _fingerprint(code)) not in seen:
            seen.add(fingerprint)
            made.append(Mutant(change, code))
    return made


def _solution_lines(source: str) -> set[int]:
    lines, inside = set(), False
    for number, line in enumerate(source.splitlines(), start=1):
        inside = (inside or "### BEGIN SOLUTION" in line) and "### END SOLUTION" not in line
        if inside:
            lines.add(number)
    return lines


def _fingerprint(code: types.CodeType) -> tuple[object, ...]:
    """What a code object does, without its lines."""
    constants = [_fingerprint(value) if isinstance(value, types.CodeType) else repr(value) for value in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_name, code.co_code, code.co_exceptiontable, code.co_flags, names, tuple(constants)


def _changes(tree: ast.Module, lines: set[int]) -> Iterator[str]:
    """Change the tree in one place at a time; each change is undone when the next is asked for."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    attributes = sorted({node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_self(node)})
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        arguments = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        stored = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _is_stored(node)]
        names = [name for name in dict.fromkeys(arguments + stored) if name != "self"]
        prefix = f"{function.name}: " if classes else ""
        for statements, place in _statements(function):
            statement = statements[place]
            if statement.lineno not in lines:
                continue
            before = _header(statement)
            for block in _blocks(statements, place):
                kept = statements[:]
                statements[:] = block
                new = [_header(node) for node in block if node not in kept] or ["(deleted)"]
                swapped = len(block) == len(kept)
                after = _header(block[place]) + " first" if swapped and block[place] in kept else "; ".join(new)
                yield f"{prefix}{before} → {after}"
                statements[:] = kept
            for parent, field, index in _places(statement):
                held = getattr(parent, field)
                old = held if index is None else held[index]
                conditions = [ast.UnaryOp(ast.Not(), old), ast.Constant(True), ast.Constant(False)]
                others = conditions if field == "test" else []
                for replacement in chain(others, _replacements(old, names, attributes)):
                    _put(parent, field, index, replacement)
                    yield f"{prefix}{before} → {_header(statement)}"
                    _put(parent, field, index, old)


def _is_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _statements(function: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    """Every statement below a node: its list and its place there."""
    for field in ("body", "orelse"):
        statements = getattr(function, field, [])
        for place in range(len(statements)):
            yield statements, place
            yield from _statements(statements[place])


def _header(statement: ast.stmt) -> str:
    """A statement in one line, without the statements in it."""
    alone = ast.fix_missing_locations(copy.copy(statement))
    for field in ("body", "orelse"):
        if hasattr(alone, field):
            setattr(alone, field, [])
    return " ".join(ast.unparse(alone).split())


def _places(statement: ast.stmt) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every expression and operator of a statement, statements in it excepted: the node that holds it, and where."""
    nodes: list[ast.AST] = [statement]
    while nodes:
        node = nodes.pop()
        for field, value in ast.iter_fields(node):
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.stmt):
                    yield node, field, index
                    nodes.append(child)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _blocks(statements: list[ast.stmt], place: int) -> Iterator[list[ast.stmt]]:
    """What may stand in place of some statements: one left out, moved, unwrapped, in place, or ended early."""
    before, statement, after = statements[:place], statements[place], statements[place + 1 :]
    yield [*before, *after] or [ast.Pass()]
    if after:
        yield [*before, after[0], statement, *after[1:]]
    match statement:
        case ast.With(body=body):
            yield [*before, *body, *after]
        case ast.For() | ast.While():
            once = copy.copy(statement)
            once.body = [*statement.body, ast.Break()]
            yield [*before, once, *after]
            if after and isinstance(after[0], ast.Return):
                early = copy.copy(statement)
                early.body = [*statement.body, after[0]]
                yield [*before, early, *after]
        case ast.Assign(targets=[ast.Name() as target], value=ast.BinOp(left=ast.Name(id=name), op=op, right=right)):
            if target.id == name:
                yield [*before, ast.AugAssign(target, op, right), *after]
        case ast.AugAssign(target=target, op=op, value=value):
            yield [*before, ast.Assign([target], value), *after]


def _replacements(node: ast.AST, names: list[str], attributes: list[str]) -> Iterator[ast.AST]:
    """What may stand in place of an expression or an operator."""
    for family in OPERATORS:
        if type(node) in family:
            yield from (other() for other in family if other is not type(node))
    match node:
        case ast.And():
            yield ast.Or()
        case ast.Or():
            yield ast.And()
        case ast.Constant(value=bool() | None as value):
            yield from map(ast.Constant, {True, False, None} - {value})
        case ast.Constant(value=int() | float() as value):
            yield from map(ast.Constant, dict.fromkeys([value + 1, value - 1, value * 2, 0, -value]))
        case ast.Constant(value="sum"):
            yield ast.Constant("mean")
        case ast.Name(id=name, ctx=context):
            others = names if name in names else _relatives(name)
            yield from (ast.Name(other, context) for other in others if other != name)
        case ast.Attribute(value=value, attr=name, ctx=context):
            others = [*(attributes if _is_self(node) else []), *_relatives(name)]
            yield from (ast.Attribute(value, other, context) for other in others if other != name)
        case ast.BinOp(left=left, op=op, right=right):
            yield from (left, right)
            if not isinstance(op, COMMUTATIVE):
                yield ast.BinOp(right, op, left)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield from values
            yield from (ast.BoolOp(op, rest) for rest in ([*values[:i], *values[i + 1 :]] for i in range(len(values))))
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield from (ast.Slice(None, upper, step), ast.Slice(lower, None, step), ast.Slice(lower, upper))
            yield from (ast.Slice(bound, upper, step) for bound in _moved(lower))
            yield from (ast.Slice(lower, bound, step) for bound in _moved(upper))
        case ast.Call():
            yield from _calls(node)
        case ast.Tuple(elts=elements, ctx=ast.Load() as context):
            yield from (ast.Tuple(others, context) for others in _orders(elements))
        case ast.List(elts=elements, ctx=ast.Load() as context):
            yield from (ast.List(others, context) for others in _orders(elements))
        case ast.comprehension(target=target, iter=iterated, ifs=[_, *_] as conditions):
            yield ast.comprehension(target, iterated, [], 0)
            yield ast.comprehension(target, iterated, [ast.UnaryOp(ast.Not(), conditions[0])], 0)


def _relatives(name: str) -> list[str]:
    families = [line.split() for line in RELATIVES]
    return [other for family in families if name in family for other in family]


def _moved(bound: ast.expr | None) -> list[ast.expr]:
    if bound is None:
        return [ast.Constant(1), ast.Constant(-1)]
    return [ast.BinOp(bound, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub())]


def _orders(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """A list with one item left out, or with two exchanged."""
    for i in range(len(items)):
        yield [*items[:i], *items[i + 1 :]]
        for j in range(i):
            exchanged = items[:]
            exchanged[i], exchanged[j] = items[j], items[i]
            yield exchanged


def _calls(call: ast.Call) -> Iterator[ast.expr]:
    """A call with an argument less, two exchanged or one moved by 1, and what it is called with or on, alone."""
    function, arguments, keywords = call.func, call.args, call.keywords
    plain = [argument for argument in arguments if not isinstance(argument, ast.Starred)]
    yield from plain
    if isinstance(function, ast.Attribute):
        yield function.value
    yield from (ast.Call(function, others, keywords) for others in _orders(arguments))
    for i in range(len(keywords)):
        yield ast.Call(function, arguments, [*keywords[:i], *keywords[i + 1 :]])
    for i, argument in enumerate(plain):
        if isinstance(argument, ast.Name):
            for moved in _moved(argument):
                yield ast.Call(function, [*arguments[:i], moved, *arguments[i + 1 :]], keywords)


def killers(room: Classroom, exercise: str, changed: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Run the checks of an exercise on mutants, in a process of their own, until one fails.

    Yields:
        each mutant, and the check that failed, "definition" where no check was reached, "crash" where the process
        ended or its time was up; "" where none failed.
    """
    runner = _Runner(room, exercise)
    assert not runner.first_failing(None), f"The reference answer of {exercise} fails; this also loads what checks use."
    left = changed
    while left:
        ours, theirs = FORK.Pipe(duplex=False)
        with warnings.catch_warnings(action="ignore"):
            child = FORK.Process(target=runner.judge, args=(theirs, left), daemon=True)
            child.start()
        theirs.close()
        verdict = ""
        while left and verdict != "crash":
            try:
                verdict = ours.recv() if ours.poll(HANGS) else "crash"
            except EOFError:
                verdict = "crash"
            mutant, *left = left
            yield mutant, verdict
        child.kill()
        child.join()
        ours.close()


class _Runner:
    """Runs the checks of one exercise."""

    def __init__(self, room: Classroom, exercise: str) -> None:
        self.scope = room.scope
        self.answers = [compile(source, name, "exec") for name, source in room.answers.items()]
        self.order = room.checks_of(exercise)
        self.checks = {cell.id: compile(cell.source, cell.id, "exec") for cell in room.checks if cell.id in self.order}

    def judge(self, results: Connection, changed: list[Mutant]) -> None:
        """Send the first failing check of each mutant; SIGPROF, which nobody handles, ends one that takes too long."""
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        for mutant in changed:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            results.send(self.first_failing(mutant.code))

    def first_failing(self, answer: types.CodeType | None) -> str:
        """The first check that fails on a changed answer; the one that failed last is asked first."""
        scope = dict(self.scope)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                for code in [*self.answers, *([answer] if answer else [])]:
                    exec(code, scope)
            except Exception:
                return "definition"
            for check in self.order:
                torch.manual_seed(0)
                try:
                    exec(self.checks[check], scope)
                except BaseException:
                    self.order.remove(check)
                    self.order.insert(0, check)
                    return check
        return ""


def report(lesson: str, exercise: str) -> tuple[int, list[str]]:
    """How many mutants an answer has, and what is wrong: survivors for no reason, and reasons that nothing needs."""
    room = classroom(lesson)
    changed = mutants(room.answers[exercise])
    alive = {mutant.change for mutant, killer in killers(room, exercise, changed) if not killer}
    known = [change for entry in equivalent().get(exercise, []) for change in entry["changes"]]
    wrong = [f"✗ {exercise}: no check fails on {change}" for change in sorted(alive - set(known))]
    wrong += [f"✗ {exercise}: no longer survives: {change}" for change in known if change not in alive]
    return len(changed), wrong


def equivalent() -> dict[str, list[Equivalent]]:
    """The survivors that are as right as the reference answers, by exercise."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))


def exercises() -> dict[str, str]:
    """The lesson of every exercise."""
    return {exercise: lesson for lesson in LESSONS for exercise in classroom(lesson).answers}


def main(names: list[str]) -> int:
    """Report on some exercises or on all, two at a time."""
    lessons = exercises()
    if unknown := [name for name in names if name not in lessons]:
        sys.exit(f"There is no exercise {', '.join(unknown)}. There are: {', '.join(lessons)}.")
    names = names or list(lessons)
    total, wrong = 0, []
    with ProcessPoolExecutor(2, mp_context=FORK) as pool:
        for name, (count, lines) in zip(names, pool.map(report, map(lessons.get, names), names), strict=True):
            print(f"{name}: {count} mutants", *lines, sep="\n", flush=True)
            total, wrong = total + count, wrong + lines
    listed = sum(len(entry["changes"]) for name in names for entry in equivalent().get(name, []))
    print(f"{total} mutants, {listed} of them equivalent, {len(wrong)} to look at.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

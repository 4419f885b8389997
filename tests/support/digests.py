"""What a proof depends on, as a digest: while that is the same, nobody need make it again.

A proof is what all tests of a file say of one exercise, of one attack, or of all lessons. That of an attack depends on
the attack, on the lesson that it attacks, on PyTorch and on all that grades; that of all lessons on their code, on what
learners have of the package and on what is installed; that of the whole course on every file but other tests and
documents. That of an exercise depends on the lesson's cells, on the
answers of the tables, on what the pages and the list of equivalent mutants say of the exercise, on the version of
PyTorch, and on every module that the tests, the checks and the answers reach by what they import and use. Of a module
its comments and docstrings count nothing.
"""

import ast
import dis
import functools
import hashlib
import itertools
import json
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import CodeType

import answers
import nbformat
import torch
from answers import RIGHT, WRONG
from attacks import ATTACKS
from IPython.core.inputtransformer2 import TransformerManager
from support.classroom import LESSONS, ROOT, Classroom, classroom
from support.drawn import head
from support.imports import file_of, home, is_ours, reached
from support.proofs import OF_ATTACKS, OF_COURSE, OF_EXERCISES, OF_LESSONS

from autograder.lessons import OF_THIS_PACKAGE

PAGES = [ROOT / "tests" / f"{name}.md" for name in ("matrix", "mutants")]
TABLES = ROOT / "tests" / "answers"  # of which each lesson's are imported by its name
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.toml"
DECLARED = file_of(OF_THIS_PACKAGE)  # what lessons bring, which is imported by its name
# What no lesson's cell reaches (a test says so).
ROOMS_OF_INSTRUCTORS = (
    *("cli", "collect", "course", "demo", "export", "grading", "hand_back", "leaderboard"),
    *("report", "similar", "spreadsheets", "student"),
)
NO_TESTS_OR_DOCUMENTS = ":!tests/*.py", ":!tests/proofs.json", ":!*.md"  # what git is asked for
NO_CODE = answers.writing.Code()


def digests() -> dict[str, dict[str, str]]:
    """By test file and exercise or attack all that a proof depends on."""
    grading = {ROOT / OF_ATTACKS, *(ROOT / "autograder" / "grading").rglob("*.py")}
    of_attack = {
        attack.what: _digest([repr(attack), *_all_cells(attack.lesson)], frozenset(grading | _all_files(attack.lesson)))
        for attack in ATTACKS
    }
    of_exercises: dict[str, dict[str, str]] = {test: {} for test in OF_EXERCISES}
    for room in map(classroom, LESSONS):
        for exercise in room.answers:
            said = said_of(room, exercise)
            for test, found in of_exercises.items():
                found[exercise] = digest(test, said, room, exercise)
    by_file = of_exercises | {OF_ATTACKS: of_attack}
    for test in (*OF_LESSONS, *OF_COURSE):
        by_file.setdefault(test.partition("::")[0], {})[test] = of_whole(test)
    return by_file


def said_of(room: Classroom, exercise: str) -> list[str]:
    """What the lesson, the tables and the pages say of an exercise."""
    return [*_cells(room, exercise), *_answers(room, exercise), *_lines(room, exercise)]


def digest(test: str, said: list[str], room: Classroom, exercise: str) -> str:
    """All that the tests of a file about an exercise depend on, of which this is said."""
    return _digest(said, frozenset({ROOT / test, *_files_of_cells(room, exercise)}))


def of_whole(test: str) -> str:
    """All that a file of tests, or a test, depends on which is one proof, of all lessons or of the whole course."""
    path = ROOT / test.partition("::")[0]
    of_all = _of_learners() if test in OF_LESSONS else _of_course()
    tables = TABLES.rglob("*.py") if TABLES / "__init__.py" in reached({path}) else []
    return _digest([*of_all, *_documents(path)], frozenset({path, *tables}))


def _digest(said: list[str], files: frozenset[Path]) -> str:
    parts = [torch.__version__.partition("+")[0], *said, *_reached_with_content(files | {DECLARED})]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@functools.cache
def _of_course() -> list[str]:
    """All files but tests and documents."""
    return [f"{path.relative_to(ROOT)}: {_hash(path)}" for path in _files(*NO_TESTS_OR_DOCUMENTS)]


def _documents(test: Path) -> list[str]:
    """The documents that a test reads, or what it imports of the tests: by `ROOT / "docs" / "guide.md"`, say."""
    text = "\n".join(each.read_text(encoding="utf-8") for each in reached({test}) if ROOT / "tests" in each.parents)
    names = {path: path.relative_to(ROOT) for path in _files("*.md")}
    read = {path: name for path, name in names.items() if " / ".join(["ROOT", *map('"{}"'.format, name.parts)]) in text}
    return [f"{name}: {_hash(path)}" for path, name in read.items()]


@functools.cache
def _files(*patterns: str) -> list[Path]:
    """The files of the repository, in order; outside of git none."""
    if not head():
        return []
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    return [path for name in sorted(set(listed.split("\0"))) if (path := ROOT / name).is_file()]


@functools.cache
def _of_learners() -> list[str]:
    """The code of the lessons, what it can reach in the package, with data, and what says what is installed."""
    rooms = [ROOT / "autograder" / room for room in ROOMS_OF_INSTRUCTORS]
    found = (path for path in (ROOT / "autograder").rglob("*.*") if path.is_file())
    wanted = [path for path in found if path.suffix not in (".pyc", ".lock") and not {*rooms} & {*path.parents}]
    others = [ROOT / name for name in ("pyproject.toml", "requirements.txt", "tests/requirements.txt")]
    lessons = (
        ROOT / folder / lesson / f"{lesson}.ipynb" for folder in ("solutions", "notebooks") for lesson in LESSONS
    )
    code = [f"{path.relative_to(ROOT)}: {_code_cells(path)}" for path in lessons]
    return [*code, *(f"{path.relative_to(ROOT)}: {_hash(path)}" for path in sorted([*wanted, *others]))]


def _code_cells(path: Path) -> list[tuple[str, str]]:
    """The code of a lesson, by cell."""
    cells = nbformat.reads(path.read_bytes().decode(), as_version=4).cells
    return [(cell.id, cell.source) for cell in cells if cell.cell_type == "code"]


@functools.cache
def _reached_with_content(files: frozenset[Path]) -> list[str]:
    return [f"{path.relative_to(ROOT)}: {_hash(path)}" for path in sorted(reached(files))]


@functools.cache
def _hash(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha256(code_in(content).encode() if path.suffix == ".py" else content).hexdigest()


def code_in(module: bytes) -> str:
    """What of a module can decide a proof: all but comments, docstrings and line breaks."""
    tree = ast.parse(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _cells(room: Classroom, exercise: str) -> Iterator[str]:
    """The cells that are run for an exercise's checks."""
    checks = room.checks_of(exercise)
    yield from room.answers.values()
    yield from (_without_comments(cell.source) for cell in room.given_to_checks)
    yield from (cell.source for cell in room.checks if cell.id in checks)


@functools.cache
def _without_comments(cell: str) -> str:
    return ast.unparse(ast.parse(TransformerManager().transform_cell(cell)))


@functools.cache
def _all_cells(lesson: str) -> list[str]:
    """The cells of a lesson, its answers excepted."""
    return [cell.source for cell in (*classroom(lesson).given, *classroom(lesson).checks)]


@functools.cache
def _all_files(lesson: str) -> set[Path]:
    """Where is defined what a lesson's checks use."""
    return set().union(*(_files_of_cells(classroom(lesson), exercise) for exercise in classroom(lesson).answers))


def _answers(room: Classroom, exercise: str) -> Iterator[str]:
    """The answers of the tables to an exercise, each with its source."""
    for answer in itertools.chain(WRONG[room.lesson], RIGHT[room.lesson]):
        if answer.exercise == exercise:
            yield repr(replace(answer, code=NO_CODE))
            yield answers.source(answer, room.answers)


def _lines(room: Classroom, exercise: str) -> Iterator[str]:
    """What the pages say of an exercise and its checks, and which of its mutants are as right as the answer."""
    names = [f"| `{name}` |" for name in (exercise, *room.checks_of(exercise))]
    for page in PAGES:
        lines = page.read_text(encoding="utf-8").splitlines()
        yield from (line for line in lines if any(name in line for name in names))
    yield json.dumps(_equivalent().get(exercise, []))


@functools.cache
def _equivalent() -> dict[str, list[object]]:
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))


# The files


@functools.cache
def _files_of_cells(room: Classroom, exercise: str) -> set[Path]:
    """Where is defined what an exercise's checks use, and the answers, and the cells that give them other names."""
    checks = room.checks_of(exercise)
    needed = [*room.answers.values(), *(cell.source for cell in room.checks if cell.id in checks)]
    given = [cell.source for cell in room.given]
    while more := [text for text in given if text not in needed and _bound(text) & set().union(*map(_read, needed))]:
        needed += more
    ours = dict(each for text in given for each in _imports(text))
    return {file_of(module) for text in needed for module in _used(text, ours)}


@functools.cache
def _code(cell: str) -> CodeType:
    return compile(TransformerManager().transform_cell(cell), "", "exec")


@functools.cache
def _bound(cell: str) -> set[str]:
    """The names that a cell binds."""
    return {each.argval for each in dis.get_instructions(_code(cell)) if each.opname == "STORE_NAME"}


@functools.cache
def _read(cell: str) -> set[str]:
    """The names that a cell, and all in it, takes from elsewhere; with attributes, which do no harm."""
    codes = [_code(cell)]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    return {name for code in codes for name in code.co_names}


@functools.cache
def _tree(cell: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(TransformerManager().transform_cell(cell))))


def _imports(cell: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names by which a cell knows something of ours: the module it takes it from, and its name there."""
    for node in _tree(cell):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [(alias.asname or alias.name, (node.module, alias.name)) for alias in node.names]
            yield from (each for each in names if is_ours(*each[1]))


def _used(cell: str, ours: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """The modules that define what a cell reads of ours; of a module of ours, where the name is defined."""
    of_modules = {}
    for node in _tree(cell):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ours:
            of_modules[node.value] = node.attr
    for node in _tree(cell):
        if isinstance(node, ast.Name) and node.id in ours:
            module = home(*ours[node.id])
            yield home(module, of_modules[node]) if node in of_modules else module

"""The learner's own parts at work, loaded from their file one by one; what is missing is the course's."""

import ast
import hashlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder import parts
from autograder.yours import place
from autograder.yours.parts_file import PartsFile, Section
from autograder.yours.source import global_names
from autograder.yours.trials import TRIALS, runs

USUAL_IMPORTS = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


class Own:
    """The module `my_transformer`, whatever state its file is in.

    Attributes:
        file: what the file holds.
        module: its names; parts that it lacks are the course's there.
        own: the names of the parts that are the learner's and have run.
        notes: what is wrong, in sentences for the learner, by the part that it is about; "" for the whole file.
    """

    def __init__(self, path: Path | None) -> None:
        self.notes: dict[str, str] = {}
        self.file = self._read(path)
        self.module = ModuleType("my_transformer")
        self.module.__file__ = str(path)
        self.own: set[str] = set()
        if self.file.sections:
            self._load()

    def _read(self, path: Path | None) -> PartsFile:
        try:
            file = PartsFile.read(path)
        except OSError as error:
            self.notes[""] = f"{place.FILE} cannot be read ({type(error).__name__}: {error})."
            return PartsFile()
        if path is not None and not file.sections:
            self.notes[""] = f"{place.FILE} holds no part under a line like `# Exercise 1.2 · …`."
        return file

    def _load(self) -> None:
        sys.modules["my_transformer"] = self.module  # where dataclasses and pickle look for a class's module
        if problem := self._run(self.file.head, 1):
            self._run(USUAL_IMPORTS, 1)
            self.notes[""] = (
                f"What stands above the first part of {place.FILE} {problem}. The usual imports are used, and the next "
                "answer that is kept repairs it."
            )
        vars(self.module).update({name: getattr(parts, name) for name in TRIALS})
        for name, section in self.file.sections.items():
            if problem := self._run(section.source, section.line):
                self._note(name, problem)
            else:
                self.own.add(name)
        for name in [name for name in TRIALS if name in self.own]:
            if problem := runs(name, getattr(self.module, name)):
                self._note(name, f"does not run any more ({problem})")
                self.own.remove(name)
                setattr(self.module, name, getattr(parts, name))

    def _run(self, source: str, line: int) -> str:
        """Run a piece of the file under its own line numbers; return what stops it, "" when nothing does."""
        try:
            exec(compile("\n" * (line - 1) + source, str(self.module.__file__), "exec"), vars(self.module))
        except SyntaxError as error:
            return f"has a syntax error on line {error.lineno}"
        except Exception as error:
            return f"does not run ({type(error).__name__}: {error})"
        return ""

    def _note(self, name: str, problem: str) -> None:
        number = ".".join(map(str, self.file.sections[name].number))
        instead = "The course's is used until" if name in TRIALS else "It is fixed when"
        self.notes[name] = (
            f"`{name}` in {place.FILE} {problem}. {instead} you run the checks of exercise {number} again."
        )

    def part(self, name: str) -> object:
        """The learner's own, or the course's."""
        return getattr(self.module, name) if name in self.own else getattr(parts, name)

    def sections_of(self, name: str) -> dict[str, Section | None]:
        """The part and all that it needs of the file, by name; None for what is the course's."""
        needed: dict[str, Section | None] = {}
        names = [name]
        while names:
            current = names.pop()
            if current in needed or not (current in TRIALS or current in self.file.sections):
                continue
            is_own = current in self.own
            needed[current] = self.file.sections[current] if is_own else None
            if is_own:
                names += sorted(global_names(self.file.sections[current].source))
        return needed

    def signature(self, name: str) -> str:
        """A text that changes when the part, or anything that it needs of the file, does."""
        needed = self.sections_of(name).items()
        sources = sorted(f"{part}: {_code(section.source) if section else ''}" for part, section in needed)
        return hashlib.sha256("\n".join(sources).encode()).hexdigest()


def _code(source: str) -> str:
    """What a source does, without its comments, docstrings and spaces."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def read() -> Own:
    """The learner's parts as they are now; none where nothing is to be taken."""
    copies = place.copies(place.FILE) if place.is_used() else []
    learners = Own(copies[0] if copies else None)
    if len(copies) > 1:
        learners.notes[""] = f"There are two files {place.FILE}: {copies[0]} is used, {copies[1]} is not."
    return learners


def take(*names: str) -> Any:
    """Return earlier parts, the learner's own where they are kept and the course's where not, and print which is which.

    Args:
        names: as the lessons call them.

    Returns:
        The part of a single name, a tuple of several.

    Raises:
        ValueError: no lesson has a part of that name.
    """
    if unknown := [name for name in names if name not in TRIALS]:
        raise ValueError(f"No lesson has a part called {', '.join(unknown)}. There are {', '.join(TRIALS)}.")
    learners = read()
    whole, mixed, courses = [], [], []
    for name in names:
        others = [needed for needed, section in learners.sections_of(name).items() if section is None]
        if name not in learners.own:
            courses.append(name)
        elif others:
            mixed.append(f"{name} (with the course's {', '.join(others)})")
        else:
            whole.append(name)
    for title, parts_of_it in (("Yours", whole + mixed), ("The course's", courses)):
        if parts_of_it:
            print(f"{title}: {', '.join(parts_of_it)}.")
    needed = {"", *names}.union(*(learners.sections_of(name) for name in names))
    for part, note in learners.notes.items():
        if part in needed:
            print(note)
    if courses and not learners.own and place.will_be_lost():
        print(
            "Have you kept parts on another machine? Mount your Drive, or upload "
            f"{place.FILE} (the folder at the left), and run this cell again."
        )
    taken = tuple(learners.part(name) for name in names)
    return taken if len(taken) != 1 else taken[0]

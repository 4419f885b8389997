"""`my_transformer.py`: the learner's parts in one importable file, in the order of the lessons."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from autograder import files
from autograder.yours.source import Gathered, NotAlone, global_names, imported
from autograder.yours.trials import TRIALS

DOCSTRING = '''"""The Transformer of "Attention Is All You Need", written by hand, exercise by exercise.

The notebooks of the course keep this file: a part is put here when all the checks that you see have passed.
To change a part, change it in its notebook, and run its checks again.
"""
'''
TRANSLATES = ("Transformer", "greedy_decode", "Tokenizer")  # what the last lines of the file need
PROGRAM = """# A program: python my_transformer.py "27. März 2019"
if __name__ == "__main__":
    import sys
    from pathlib import Path

    import torch

    kept = Path(__file__).with_name("my_translator.pt")  # lesson 8 writes it
    if len(sys.argv) == 1 or not kept.is_file():
        sys.exit(f'Usage: python {sys.argv[0]} "27. März 2019" …, with {kept.name} of lesson 8 beside it')
    trained = torch.load(kept, weights_only=True)
    tokenizer = Tokenizer(trained["merges"], trained["alphabet"])
    model = Transformer(*trained["sizes"], share_embeddings=True)
    model.load_state_dict(trained["weights"])
    for text in sys.argv[1:]:
        src = torch.tensor([[*tokenizer.encode(text.lower()), 2]])
        print(tokenizer.decode(greedy_decode(model, src, max_len=12)[0].tolist()))
"""
WRITES = ("GPT", "generate")  # what it takes to write
WRITER = """# A program: python my_transformer.py --write "The if statement"
if __name__ == "__main__":
    import sys
    from pathlib import Path

    import torch

    if sys.argv[1:2] == ["--write"]:
        kept = Path(__file__).with_name("my_gpt.pt")  # lesson 9 writes it
        if len(sys.argv) != 3 or not kept.is_file():
            sys.exit(f'Usage: python {sys.argv[0]} --write "The if statement", with {kept.name} of lesson 9 beside it')
        trained = torch.load(kept, weights_only=True)
        model, letters = GPT(*trained["sizes"]), trained["letters"]
        model.load_state_dict(trained["weights"])
        tokens = torch.tensor([[letters.index(letter) for letter in sys.argv[2] if letter in letters]])
        print("".join(letters[i] for i in generate(model, tokens, 112, temperature=0.7)[0].tolist()))
        sys.exit()
"""
_PROGRAMS = {WRITER: WRITES, PROGRAM: TRANSLATES}  # each with what it needs, in their order in the file
_ENDINGS = {"", *(each.rstrip() for each in _PROGRAMS), f"{WRITER}\n\n{PROGRAM}".rstrip()}
_PROGRAM_TITLE = "# A program: "
_TITLE = re.compile(r"^# (?P<kind>Exercise|Helper of) (?P<number>\d+\.\d+) · (?P<name>\w+)\n", re.MULTILINE)
_MISSING = re.compile(r"^# Not solved yet, but needed below: .*\n\n?", re.MULTILINE)


class Section(NamedTuple):
    """One function, class or number of the file."""

    name: str
    number: tuple[int, int]  # of the exercise that it answers, or helps to answer: (4, 5)
    is_helper: bool
    source: str
    line: int = 0  # where its source begins in the file it was read from

    @property
    def title(self) -> str:
        """The line above it."""
        kind = "Helper of" if self.is_helper else "Exercise"
        return f"# {kind} {'.'.join(map(str, self.number))} · {self.name}\n"

    @property
    def is_edited(self) -> bool:
        """Whether it holds more or less than the one statement that was put there."""
        try:
            return len(ast.parse(self.source).body) != 1
        except SyntaxError:
            return True


@dataclass
class PartsFile:
    """What the file holds."""

    head: str = ""  # all that stands above the first section
    sections: dict[str, Section] = field(default_factory=dict)  # by name, in order
    # what stands behind the last section: `WRITER` and `PROGRAM`, as soon as all that each needs is there
    program: str = ""

    @classmethod
    def read(cls, path: Path | None) -> PartsFile:
        """Read a file, be it broken or edited; an empty one where there is none.

        Raises:
            OSError: it cannot be read.
        """
        text = path.read_text(encoding="utf-8", errors="replace") if path else ""
        text, program_title, program = text.partition(_PROGRAM_TITLE)
        titles = list(_TITLE.finditer(text))
        ends = [title.start() for title in titles] + [len(text)]
        sections = {}
        for title, end in zip(titles, ends[1:], strict=True):
            source, line = text[title.end() : end].strip("\n") + "\n", text.count("\n", 0, title.end()) + 1
            is_helper = title["kind"] != "Exercise"
            sections[title["name"]] = Section(title["name"], _number(title["number"]), is_helper, source, line)
        return cls(text[: ends[0]].rstrip("\n") + "\n" if text else "", sections, program_title + program)

    @property
    def imports(self) -> dict[str, str]:
        """The statements at the top, by the names that they bind."""
        try:
            return imported(ast.parse(self.head).body)
        except SyntaxError:
            return {}

    def put(
        self, answers: Sequence[str], gathered: Gathered, numbers: Mapping[str, str], at_hand: Mapping[str, str]
    ) -> PartsFile:
        """Return the file with the answers of an exercise in it, in the place of earlier ones.

        Args:
            numbers: of the exercises that a lesson asks for, by their answers: "4.5".
            at_hand: the imports of the notebook, for parts whose own have been lost.

        Raises:
            NotAlone: a name of theirs means something else in another part.
        """
        imports, number = self.imports, _number(numbers[answers[0]])
        needed = _names_of(section for section in self.sections.values() if section.number != number)
        for name, statement in gathered.imports.items():
            if imports.get(name, statement) != statement and name in needed:
                raise NotAlone(f"`{name}` is `{imports[name]}` in another part, and `{statement}` here")
        sections = {
            name: section
            for name, section in self.sections.items()
            if section.number != number or (section.is_helper and name in needed)
        }
        for name, source in gathered.sources.items():
            other = sections.get(name)
            if name in numbers:  # an answer, be it to another exercise of the lesson
                sections[name] = Section(name, _number(numbers[name]), False, source)
            elif other is None:
                sections[name] = Section(name, number, True, source)
            elif other.source != source:
                at = ".".join(map(str, other.number))
                raise NotAlone(f"the helper `{name}` has the name of another one in exercise {at}; rename it")
        order = {section.name: place for place, section in enumerate(sections.values())}
        ordered = sorted(sections.values(), key=lambda section: (section.number, order[section.name]))
        used = _names_of(ordered)
        known = {**at_hand, **imports, **gathered.imports}
        kept = {name: statement for name, statement in known.items() if name in used and name not in sections}
        missing = [name for name in TRIALS if name in used and name not in sections]
        program = "\n\n".join(text for text, needs in _PROGRAMS.items() if {*needs} <= sections.keys())
        return PartsFile(_head(kept, missing), {section.name: section for section in ordered}, program)

    def would_lose_of(self, old: PartsFile) -> bool:
        """Whether something that somebody wrote into an old file by hand would not be in this one."""
        gone = [section for name, section in old.sections.items() if self.sections.get(name) != section]
        head = _MISSING.sub("", old.head) if old.head else DOCSTRING
        edited = old.program.rstrip() not in _ENDINGS
        return edited or head.rstrip() != _head(old.imports, ()).rstrip() or any(section.is_edited for section in gone)

    @property
    def text(self) -> str:
        """The whole file."""
        sections = [section.title + section.source for section in self.sections.values()]
        return "\n\n".join([self.head, *sections, *([self.program] if self.program else [])])

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, self.text.encode())


def _number(text: str) -> tuple[int, int]:
    lesson, _, exercise = text.partition(".")
    return int(lesson), int(exercise)


def _head(imports: Mapping[str, str], missing: Sequence[str]) -> str:
    """The docstring, what is still missing, and the imports, Python's own first."""
    statements = sorted(imports.values(), key=lambda statement: (not statement.startswith("import"), statement))
    standard = [statement for statement in statements if re.split(r"[ .]", statement)[1] in sys.stdlib_module_names]
    others = [statement for statement in statements if statement not in standard]
    blocks = ["".join(f"{statement}\n" for statement in block) for block in (standard, others) if block]
    still = [f"# Not solved yet, but needed below: {', '.join(missing)}\n"] if missing else []
    return "\n".join([DOCSTRING, *still, *blocks])


def _names_of(sections: Iterable[Section]) -> set[str]:
    """The names that sections read; a section that is no Python any more reads none."""
    names: set[str] = set()
    for section in sections:
        try:
            names |= global_names(section.source)
        except SyntaxError:
            continue
    return names

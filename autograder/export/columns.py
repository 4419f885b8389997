"""Which column of Canvas' gradebook is a lesson's: by its name or title as people write them, or as somebody said.

What was said is kept in a file beside the gradebook, for the next time.
"""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from autograder import files
from autograder.course.config import CourseError, read_notebook
from autograder.course.lesson import Lesson
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot

NEW = "new"  # in place of a heading: add a column
KINDS = ("", "lesson", "assignment", "homework", "lab", "notebook")  # what may stand before a number or title
WITH_ID = re.compile(r"(.*)\s\((\d+)\)", re.DOTALL)


@dataclass(frozen=True)
class Choices:
    """What somebody said of columns: lesson → heading."""

    given: Mapping[str, str] = field(default_factory=dict)  # this time
    remembered: Mapping[str, str] = field(default_factory=dict)  # before
    path: Path = Path("gradebook.db.canvas.json")  # the file that keeps it
    # what came of that which was given: lesson → the column's heading
    settled: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, given: Mapping[str, str]) -> Choices:
        """Read what was said before.

        Raises:
            CourseError: the file is another one.
        """
        try:
            remembered = json.loads(path.read_bytes()) if path.exists() else {}
            return cls(given, {str(lesson): str(heading) for lesson, heading in remembered.items()}, path)
        except (ValueError, AttributeError):
            raise CourseError(f"{path} is no longer what was written. Remove it, and say columns again.") from None

    def of(self, lesson: str) -> str:
        """The heading that was said for a lesson, "" for none."""
        return self.given.get(lesson) or self.remembered.get(lesson, "")

    def settle(self, lesson: str, heading: str) -> str:
        """Take note of where a lesson goes, and say it; "" where that is plain."""
        if lesson in self.given:
            self.settled[lesson] = heading
            return f"{lesson}: goes into “{heading}”, also the next time ({self.path.name})."
        if lesson in self.remembered:
            return f"{lesson}: goes into “{heading}”, as said before; another --column changes that."
        return "" if without_id(heading) == lesson else f"{lesson}: goes into “{heading}”."

    def save(self) -> None:
        """Keep what was said this time."""
        if self.settled:
            files.write(self.path, json.dumps({**self.remembered, **self.settled}, indent=2).encode(), mode=0o600)


def columns_of(headings: Mapping[int, str], titles: Mapping[str, str], choices: Choices, path: Path) -> dict[str, int]:
    """Find the columns of lessons; one that is to be added is not among them.

    Args:
        headings: of the columns of assignments.
        titles: lesson → its title.
        path: the file that they stand in.

    Raises:
        CourseError: a lesson's column cannot be told, or two lessons would share one.
    """
    unclear, taken = dict[str, str](), dict[int, str]()
    for lesson, title in titles.items():
        said = choices.of(lesson)
        fitting = _named(headings, said) if said else _alike(headings, lesson, title)
        if len(fitting) > 1:
            unclear[lesson] = " and ".join(f"“{headings[column]}”" for column in fitting) + " both may be it"
        elif fitting:
            if (other := taken.setdefault(fitting[0], lesson)) != lesson:
                raise CourseError(f"{other} and {lesson} would share the column “{headings[fitting[0]]}”.")
        elif not said:
            unclear[lesson] = "no column has this name"
        elif said != NEW:
            again = "where you have imported it, download the gradebook again"
            unclear[lesson] = f"there is no column “{said}”; {again}"
    if unclear:
        free = [heading for column, heading in headings.items() if column not in taken]
        raise CourseError(_explained(path, unclear, titles, list(headings.values()), free))
    return {lesson: column for column, lesson in taken.items()}


def _explained(
    path: Path, unclear: Mapping[str, str], titles: Mapping[str, str], headings: Sequence[str], free: Sequence[str]
) -> str:
    """Say of which lessons the column is unclear, and how to say which it is.

    Args:
        free: the headings of columns that are no other lesson's.
    """
    lesson = next(iter(unclear))
    likest = max(free, key=lambda heading: _likeness(heading, titles[lesson]), default="")
    which = f"Say which with --column {shlex.quote(f'{lesson}={likest}')}, or add" if free else "Add"
    clear = next((name for name in titles if name not in unclear), "")
    without = f" To leave it out, name the lessons that you want: --lesson {clear}." if clear else ""
    return "\n".join(
        [
            f"{path}: which column is a lesson's cannot be told, and nothing was written.",
            *(f"  {lesson} (“{titles[lesson]}”): {why}." for lesson, why in unclear.items()),
            f"Its columns are: {', '.join(f'“{heading}”' for heading in headings) or 'none'}.",
            f"{which} one with --column {lesson}={NEW}; this is remembered.{without}",
        ]
    )


def _likeness(heading: str, title: str) -> float:
    return SequenceMatcher(None, _plain(without_id(heading)), _plain(title)).ratio()


def title_of(book: GradebookSnapshot, lesson: GradebookLesson) -> str:
    """A lesson's title, "Attention"; its name where solutions/ has none."""
    try:
        return Lesson(lesson.name, read_notebook(book.course.source(lesson.name))).title or lesson.name
    except (CourseError, OSError, IndexError, KeyError):
        return lesson.name


def _named(headings: Mapping[int, str], said: str) -> list[int]:
    """The columns of this heading, with the number that Canvas gave it or without; else those of its number."""
    wanted, number = said.casefold(), WITH_ID.fullmatch(said)
    exact = [column for column, heading in headings.items() if wanted == heading.casefold()]
    titled = [column for column, heading in headings.items() if wanted == without_id(heading).casefold()]
    numbered = [column for column, heading in headings.items() if number and heading.endswith(f" ({number[2]})")]
    return exact or titled or numbered


def _alike(headings: Mapping[int, str], lesson: str, title: str) -> list[int]:
    """The columns that may be a lesson's."""
    number, name = (re.match(r"\d*", lesson) or [""])[0], lesson.lstrip("0123456789")
    spellings = {
        _plain(f"{kind} {first} {text}") for kind in KINDS for first in {"", number} for text in (name, title) if text
    }
    spellings |= {_plain(f"lesson {number}")} if number else set()
    return [column for column, heading in headings.items() if _plain(without_id(heading)) in spellings]


def _plain(text: str) -> str:
    """Its letters and numbers alone: no case, space, sign or leading zero."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("&", " and ")
    parts = re.findall(r"\d+|[^\W\d_]+", folded)
    return "".join(part.lstrip("0") or "0" if part.isdecimal() else part for part in parts)


def without_id(heading: str) -> str:
    """A heading without the number that Canvas gave the assignment."""
    parts = WITH_ID.fullmatch(heading)
    return parts[1] if parts else heading

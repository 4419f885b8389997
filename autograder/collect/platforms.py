"""Whose is what in a download: the names that Canvas, Moodle, Gradescope and people give to files and folders."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from nbgrader.utils import parse_utc

from autograder.collect.download import Download, File, Unreadable
from autograder.collect.hand_in import HandIn
from autograder.collect.people import People, moodle_person, safe_id, split_name
from autograder.course.config import CourseError
from autograder.grading.gradebook.reader import Student
from autograder.spreadsheets.matching import MOODLE
from autograder.spreadsheets.sheet import Sheet

# canvas-lms, lib/content_zipper.rb: name, LATE, user, attachment and the file's own name; a text or a link has no file.
CANVAS_NAME = re.compile(
    r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<entry>(?:text|link)\.html))",
    re.IGNORECASE,
)
CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[^_]+)_(?:(?P<attachment>\d+)_)?(?P<file>.+)")
# moodle, mod/assign/classes/downloader.php: a folder for each student and kind of hand-in, or only files.
MOODLE_NAME = re.compile(r"(?P<name>.*)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")
METADATA = "submission_metadata.yml"
ENGLISH = "Set Moodle to English while you download it."
AGAIN = "Download it again, or name the right file."
NAMES = {
    "canvas": "lovelaceada_501_9001_01_attention.ipynb",
    "moodle": "Ada Lovelace_5501_assignsubmission_file/01_attention.ipynb",
    "gradescope": "submission_123/01_attention.ipynb",
    "folder": "ada/01_attention.ipynb or ada_01_attention.ipynb",
}


@dataclass
class Found:
    """What a download comes to."""

    hand_ins: list[HandIn] = field(default_factory=list)  # perhaps several of a student
    nobodys: list[str] = field(default_factory=list)  # the files of which nobody knows whose they are
    of_others: Counter[str] = field(default_factory=Counter)  # how many are called like those of which other lesson


@dataclass
class _Pile:
    """The files of one student, as they are found."""

    who: str
    files: list[File] = field(default_factory=list)
    orders: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    time: datetime | None = None

    def hand_in(self, student: str) -> HandIn:
        notes = tuple(dict.fromkeys(self.notes))
        return HandIn(student, self.who, tuple(self.files), self.time, tuple(self.orders), notes)


def canvas(download: Download, people: People) -> Found:
    """Read *Download Submissions* of Canvas: a file for each attachment."""
    found, piles, whose = Found(), dict[str, _Pile](), dict[str, str]()
    for file in download.files:
        name = canvas_name(file)
        if not name:
            found.nobodys.append(str(file.path))
            continue
        user, parts = name["user"], name.groupdict()
        if user not in whose:
            whose[user] = canvas_student(user, people)
        pile = piles.setdefault(whose[user], _Pile(parts.get("name") or user))
        pile.files.append(file.renamed(PurePosixPath(parts.get("entry") or parts["file"])))
        pile.orders.append(float(parts["attachment"] or 0))
        if name["late"]:
            pile.notes.append("Late, says Canvas.")
        if user.startswith("anon_"):
            pile.notes.append("Canvas grades anonymously, and does not say whose this is. Turn that off.")
    found.hand_ins = [pile.hand_in(student) for student, pile in piles.items()]
    return found


def canvas_name(file: File) -> re.Match[str] | None:
    """Take the name apart that Canvas gave a file; None where it did not."""
    return CANVAS_ANONYMOUS.fullmatch(file.path.name) or CANVAS_NAME.fullmatch(file.path.name)


def canvas_student(user: str, people: People) -> str:
    """Return the id of whom Canvas knows by a number; where the class does not know that, one like the number."""
    student = people.find(("lms_id", user), ("id", user))
    is_theirs = student is not None and student.lms_id in ("", user)  # or it is a number of another kind
    other = f"canvas {user}" if user in people.students else user
    return student.id if student and is_theirs else other


def moodle(download: Download, people: People, worksheet: Path) -> Found:
    """Read *Download all submissions* of Moodle, with the worksheet that says whose number is whose."""
    found, piles = Found(), dict[str, _Pile]()
    known = {row.number: row for row in _worksheet(worksheet, people)}
    for file in download.files:
        matches = ((place, MOODLE_NAME.fullmatch(part)) for place, part in enumerate(file.path.parts))
        place, name = next((each for each in matches if each[1]), (0, None))
        if not name:
            found.nobodys.append(str(file.path))
            continue
        inside = PurePosixPath(*file.path.parts[place + 1 :])
        if inside == PurePosixPath():
            inside = PurePosixPath(name["file"] or name["kind"])
        row = known.get(name["number"])
        fits = row is not None and row.may_be(name["name"])
        student = row.student if row and fits else safe_id(f"{name['name']} {name['number']}")
        pile = piles.setdefault(student, _Pile(name["name"]))
        pile.files.append(file.renamed(inside))
        if row and fits:
            pile.time = row.time
            pile.notes += row.notes
        elif row:
            pile.notes.append(f"{worksheet.name} has the number {row.number} as {row.who}: is it of this assignment?")
        else:
            pile.notes.append(f"{worksheet.name} has no number {name['number']}: is it of this assignment?")
    found.hand_ins = [pile.hand_in(student) for student, pile in piles.items()]
    return found


@dataclass(frozen=True)
class _WorksheetRow:
    """What Moodle's worksheet says of a student."""

    number: str
    who: str
    student: str
    time: datetime | None
    notes: tuple[str, ...] = ()

    def may_be(self, name: str) -> bool:
        """Whether a name in a download is theirs, as far as signs go that Moodle leaves out of a file's name."""
        words, others = (re.findall(r"\w+", text.casefold()) for text in (self.who, name))
        is_part = set(words) <= set(others) or set(others) <= set(words)
        return is_part or sorted("".join(words)) == sorted("".join(others))


def _worksheet(path: Path, people: People) -> list[_WorksheetRow]:
    sheet, rows = Sheet.read(path), []
    people.notes += sheet.notes
    identifier = sheet.require("Identifier", advice=ENGLISH)
    for row, person in people.rows(sheet, MOODLE):
        number = re.search(r"(\d+)\s*$", sheet.get(row, identifier))
        if not number:
            continue
        who, told = sheet.get(row, sheet.column("Full name")).strip(), moodle_person(sheet, row)
        student = person.id if person else told.id
        if student:
            people.listed.add(people.add(Student(student, told.first_name, told.last_name, told.email)).id)
        time, notes = _time(sheet.get(row, sheet.column("Last modified (submission)")).strip().removeprefix("-"))
        student = student or safe_id(f"participant {number[1]}")
        rows.append(_WorksheetRow(number[1], who, student, time, notes))
    return rows


def gradescope(download: Download, people: People) -> Found:
    """Read *Download Submissions* of Gradescope: a folder for each, and a file that says whose they are."""
    listings = [file for file in download.files if file.path.name == METADATA]
    listing = min(listings, key=lambda file: len(file.path.parts), default=None)
    if listing is None:
        raise CourseError(f"{download.path} holds no {METADATA}, which Gradescope puts there. {AGAIN}")
    found, root = Found(), listing.path.parent
    tops: dict[str, list[File]] = {}
    for file in download.files:
        if not file.path.is_relative_to(root):
            found.nobodys.append(str(file.path))
        elif file is not listing:
            top, *rest = file.path.relative_to(root).parts
            tops.setdefault(top, []).append(file.renamed(PurePosixPath(*rest) if rest else PurePosixPath(top)))
    metadata = _metadata(listing, download.path)
    for name in [*metadata, *(top for top in tops if top not in metadata)]:
        files, told = tuple(tops.get(name, ())), metadata.get(name)
        if told is None and files[0].path == PurePosixPath(name):
            found.nobodys.append(str(root / name))
            continue
        time, notes = _time(told.get(":created_at")) if told else (None, (f"{METADATA} does not say whose this is.",))
        submitters = [one for one in (told or {}).get(":submitters") or () if isinstance(one, dict)]
        if len(submitters) > 1:
            notes += (f"Handed in by a group of {len(submitters)}.",)
        if not files:
            notes += (f"The download has no files in {name}.",)
        for one in submitters or [{}]:
            student, who = _submitter(one, name, people)
            found.hand_ins.append(HandIn(student, who, files, time, notes=notes))
    return found


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads plain data; what Ruby marks as an object of its own is nothing."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _metadata(listing: File, where: Path) -> dict[str, dict[str, Any]]:
    try:
        data = yaml.load(listing.read(), Loader=_Loader)
    except (Unreadable, yaml.YAMLError, ValueError, RecursionError) as error:
        brief = " ".join(str(error).split())[:200]
        raise CourseError(f"{METADATA} in {where} cannot be read ({brief}). {AGAIN}") from None
    if not isinstance(data, dict):
        raise CourseError(f"{METADATA} in {where} lists no submissions. {AGAIN}")
    return {str(name): told for name, told in data.items() if isinstance(told, dict)}


def _submitter(told: dict[str, Any], name: str, people: People) -> tuple[str, str]:
    """Return the id of who handed in, and how Gradescope calls them; the class gets to know them."""
    who, email, number = (str(told.get(key) or "").strip() for key in (":name", ":email", ":sid"))
    student = people.find(("email", email), ("id", email), ("id", number), ("lms_id", number))
    known = student.id if student else safe_id(email.lower() or number or name)
    if email or number:
        people.add(Student(known, *split_name(who), email))
    return known, who or name


def folder(download: Download, people: People, lesson: str, lessons: Collection[str]) -> Found:
    """Read a folder for each student, or files called STUDENT_LESSON.ipynb."""
    found, piles = Found(), dict[str, _Pile]()
    for file in _unwrapped(download.files, people, lesson, lessons):
        first, *rest = file.path.parts
        if first in lessons and rest:
            found.nobodys.append(f"{file.path}, where {first} is a lesson and no student")
            continue
        if rest:
            if rest[0] in lessons and len(rest) > 1:
                if rest[0] != lesson:
                    continue
                rest = rest[1:]
            name, inside = first, PurePosixPath(*rest)
        elif owner := _owner(file.path, people, lesson):
            name, inside = owner, file.path
        elif other := next((name for name in lessons if _owner(file.path, people, name)), ""):
            found.of_others[other] += 1
            continue
        else:
            found.nobodys.append(str(file.path))
            continue
        student = _student(name, people)
        piles.setdefault(student.id if student else safe_id(name), _Pile(name)).files.append(file.renamed(inside))
    found.hand_ins = [pile.hand_in(student) for student, pile in piles.items()]
    return found


def _owner(path: PurePosixPath, people: People, lesson: str) -> str:
    """Whose a single file is: ada of ada_01_attention.ipynb, or ada of ada.ipynb where the class has an ada."""
    if named := re.match(rf"(.+?)[-_ .]+{re.escape(lesson)}", path.stem, re.IGNORECASE):
        return named[1]
    return path.stem if _student(path.stem, people) else ""


def _student(name: str, people: People) -> Student | None:
    return people.find(("id", name), ("email", name))


def _unwrapped(files: Sequence[File], people: People, lesson: str, lessons: Collection[str]) -> list[File]:
    """Leave out a folder in which all others lie, so that the first folder is a student's."""
    unwrapped = list(files)
    while len(tops := {file.path.parts[0] for file in unwrapped}) == 1:
        below = [PurePosixPath(*file.path.parts[1:]) for file in unwrapped]
        if not all(path.parts for path in below):  # one file, in no folder
            break
        owners = {_owner(path, people, lesson) if len(path.parts) == 1 else path.parts[0] for path in below}
        if _student(tops.pop(), people) or owners & {"", *lessons}:
            break
        if len(owners) == 1 and not _student(owners.pop(), people):
            break
        unwrapped = [file.renamed(path) for file, path in zip(unwrapped, below, strict=True)]
    return unwrapped


def require_some(found: Found, form: str, where: Path) -> None:
    """Refuse a download in which nothing has the names of its platform.

    Raises:
        CourseError: it is none of that platform.
    """
    if not found.hand_ins:
        some = ", ".join(found.nobodys[:3]) or "none of this lesson"
        raise CourseError(f"{where} has no names like {NAMES[form]}; it has {some}. {AGAIN}")


def _time(told: object) -> tuple[datetime | None, tuple[str, ...]]:
    """When something was handed in, in UTC where no zone is told, and a note where that cannot be read."""
    if not told:
        return None, ()
    try:
        if isinstance(told, date) and not isinstance(told, datetime):
            told = datetime(told.year, told.month, told.day)
        utc: datetime = parse_utc(told)
        return utc.replace(tzinfo=UTC), ()
    except (ValueError, ArithmeticError, TypeError, AttributeError):
        return None, (f"When it was handed in cannot be read: “{str(told)[:40]}”.",)

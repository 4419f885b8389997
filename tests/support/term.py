"""An invented class of a whole term: thirty students, each with one habit, and what becomes of what they hand in.

What each has earned is computed here, from what is handed in and a table of points, by no line of the package.
"""

import copy
import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.downloads import dated_zip, zipped
from support.sample_lesson import cell, markdown, sample_lesson

Notebook = dict[str, Any]
File = tuple[str, bytes]

QUESTION = "### Why\n\nWhy?\n\n### BEGIN SOLUTION\nBecause. *1 point*: why.\n### END SOLUTION"
WORDS = "explain_why"
WHOLE, NUMBERS = ("number", "text"), ("number",)  # checks that an answer passes


@dataclass(frozen=True)
class TermLesson:
    """A lesson of one function with two checks, over numbers and over texts, and perhaps a question in words."""

    name: str
    function: str
    points: dict[str, float] = field(hash=False)  # check → points

    def source(self) -> Notebook:
        """What stands in solutions/."""
        number = int(self.name[:2])
        lesson = json.loads(json.dumps(sample_lesson(number)).replace("double", self.function))
        for which, check in (("number", self.check("number")), ("text", self.check("text"))):
            cell(lesson, check)["metadata"]["nbgrader"]["points"] = self.points[which]
        ours = f"{sum(points for which, points in self.points.items() if which != 'words'):g}"
        for name in ("title", f"exercise_{self.function}"):
            text = cell(lesson, name)["source"].replace("*4 points", f"*{ours} points")
            cell(lesson, name)["source"] = text.replace("**Points:** 4", f"**Points:** {ours}")
        if "words" in self.points:
            marks = {"grade": True, "solution": True, "locked": False, "schema_version": 3, "grade_id": WORDS}
            question = markdown(WORDS, QUESTION)
            question["metadata"]["nbgrader"] = {**marks, "points": self.points["words"]}
            at = lesson["cells"].index(cell(lesson, "progress"))
            lesson["cells"][at:at] = [markdown("words", "## In words\n\nOne question."), question]
        return lesson

    def check(self, which: str) -> str:
        """The id of a check."""
        return {"number": f"check_{self.function}", "text": f"check_{self.function}_text", "words": WORDS}[which]


CANVAS = TermLesson("01_doubling", "double", {"number": 3, "text": 1})
MOODLE = TermLesson("02_repeating", "repeat", {"number": 5, "text": 2})
FOLDER = TermLesson("03_mirroring", "mirror", {"number": 6, "text": 3})
GITHUB = TermLesson("04_explaining", "explain", {"number": 4, "text": 1, "words": 2})
LESSONS = (CANVAS, MOODLE, FOLDER, GITHUB)
CANVAS_COLUMN = "01 Doubling (3002)"


@dataclass(frozen=True)
class Work:
    """A lesson as it was released, to be answered."""

    lesson: TermLesson
    released: Notebook
    another: Notebook

    def answered(self, body: str = "return x + x", words: str = "") -> Notebook:
        """Return it with an answer."""
        notebook = copy.deepcopy(self.released)
        cell(notebook, self.lesson.function)["source"] = f"def {self.lesson.function}(x):\n    {body}"
        if words:
            cell(notebook, WORDS)["source"] = words
        return notebook

    def right(self) -> bytes:
        """Return the file of a right answer."""
        return as_bytes(self.answered())

    def half(self) -> bytes:
        """Return the file of an answer that is right for numbers alone."""
        return as_bytes(self.answered("return 2.0 * x"))

    @property
    def name(self) -> str:
        return f"{self.lesson.name}.ipynb"


def as_bytes(notebook: Notebook) -> bytes:
    """Return a notebook's file."""
    return json.dumps(notebook).encode()


Habit = Callable[[Work], Sequence[File]]


def named(name: str) -> Habit:
    """Hand in the right notebook by another name, LESSON for the lesson's."""
    return lambda work: [(name.replace("LESSON", work.lesson.name), work.right())]


def answers(body: str) -> Habit:
    """Hand in this answer."""
    return lambda work: [(work.name, as_bytes(work.answered(body)))]


def changed(change: Callable[[Notebook], object]) -> Habit:
    """Hand in the right answer in a notebook to which something was done."""

    def hand_in(work: Work) -> Sequence[File]:
        notebook = work.answered()
        change(notebook)
        return [(work.name, as_bytes(notebook))]

    return hand_in


def file(name: str, data: bytes) -> Habit:
    """Hand in a file that is no notebook."""
    return lambda work: [(name.replace("LESSON", work.lesson.name), data)]


def strip(notebook: Notebook) -> None:
    """Take away all that tells cells apart but what is written in them."""
    notebook["metadata"], notebook["nbformat_minor"] = {}, 0
    for one in notebook["cells"]:
        one["metadata"] = {}
        one.pop("id")


def mangle_checks(notebook: Notebook) -> None:
    """Delete one check, and copy and paste the other."""
    *others, check = [one for one in notebook["cells"] if one["id"].startswith("check_")]
    notebook["cells"].remove(check)
    notebook["cells"] += copy.deepcopy(others)


def zip_in_zip(work: Work) -> Sequence[File]:
    """Hand in a zip file in a zip file."""
    return [("homework.zip", zipped({"mine/again.zip": zipped({work.name: work.right()})}))]


def broken_zip(work: Work) -> Sequence[File]:
    """Hand in a zip file that lost its end."""
    return [("homework.zip", zipped({work.name: work.right()})[:200])]


def right_then_half(work: Work) -> Sequence[File]:
    """Hand in what is right, and beside it, newer, a copy that is worse."""
    return [(work.name, work.right()), (f"{work.lesson.name} (1).ipynb", work.half())]


def half_then_right(work: Work) -> Sequence[File]:
    """Hand in two notebooks, the newer one right."""
    return [(f"old {work.lesson.name}.ipynb", work.half()), (f"{work.lesson.name}-final.ipynb", work.right())]


@dataclass(frozen=True)
class Person:
    """One of the class."""

    id: str
    first: str
    last: str
    hands_in: Habit | None  # files, the oldest first; None for nothing
    passes: Sequence[str] | None = WHOLE  # what the checks come to; None where nothing can be graded
    again: tuple[Habit, Sequence[str]] | None = None  # what is handed in once more on Canvas, and what it passes
    told: str = ""  # words that collecting or grading says of it
    days_late: float = 0.0  # on Moodle
    extension: int = 0  # in days
    folder: str = ""  # what their folder is called in the third collection; "" for the id
    number: str = ""
    lessons: Sequence[TermLesson] = (CANVAS, MOODLE, FOLDER)

    @property
    def email(self) -> str:
        return f"{self.id}@example.org"


def person(id: str, name: str, hands_in: Habit | None, passes: Sequence[str] | None = WHOLE, **more: Any) -> Person:
    """Make one of the class."""
    first, _, last = name.rpartition(" ")
    return Person(id, first, last, hands_in, passes, **more)


RIGHT, HALF = answers("return x + x"), answers("return 2.0 * x")
KILLS = "import os\n    os._exit(1)"
LOOPS = "import time\n    while True:\n        time.sleep(1)"
HOARDS = "hoard = []\n    while True:\n        hoard.append(bytearray(2**26))"
SHOUTS = "for line in range(20_000):\n        print('x' * 99)\n    return x + x"

NOT_THIS = "one of this lesson's exercises is in"

CLASS = [
    person("ada", "Ada Lovelace", RIGHT, lessons=LESSONS),
    person("twin", "Ada Lovelace", HALF, NUMBERS, lessons=LESSONS),
    person("stub", "Bo Blank", lambda work: [(work.name, as_bytes(work.released))], (), told="is not written yet"),
    person("syntax", "Cy Comma", answers("return x +"), ()),
    person("py", "Di Script", file("LESSON.py", b"def double(x): return x + x"), None, told="only `LESSON.py`"),
    person("html", "Ed Page", file("LESSON.html", b"<html>"), None, told="only `LESSON.html`"),
    person("capital", "Fe Shout", named("Lesson.IPYNB")),
    person("zipped", "Gus Packer", zip_in_zip),
    person("corrupt", "Hal Broken", broken_zip, None, told="was cut off"),
    person("cut", "Ida Half", lambda work: [(work.name, work.right()[:500])], None, told="The file is cut off"),
    person("empty", "Jo Nothing", file("LESSON.ipynb", b""), None, told="The file is empty"),
    person("another", "Kim Elsewhere", lambda work: [(work.name, as_bytes(work.another))], None, told=NOT_THIS),
    person("two", "Lu Twice", half_then_right, told="counts, being the newest"),
    person("worse-copy", "Max Copy", right_then_half, NUMBERS, told="counts, being the newest"),
    person("copy-of", "Zoë 🦄 Müller-Łukasz", named("Copy of LESSON.ipynb")),
    person("stripped", "Ned Bare", changed(strip), told="marks"),
    person("mangled", "Ona Eraser", changed(mangle_checks), told="had been deleted and was put back"),
    person("absent", "Quin Away", None),
    person("loops", "Ray Round", answers(LOOPS), (), lessons=(FOLDER,), told="did not finish within 20 seconds"),
    person("hoards", "Sol More", answers(HOARDS), (), told="MemoryError"),
    person("shouts", "Tao Loud", answers(SHOUTS)),
    person("kills", "Uma Exit", answers(KILLS), (), told="ended Python"),
    person("evil", "=cmd|'/C calc'!A0 <script>alert(1)</script>", RIGHT),
    person("late", "Vi Tardy", RIGHT, days_late=1.5),
    person("extended", "Wes Later", RIGHT, days_late=5, extension=6),
    person("alias", "Xi Letters", RIGHT, folder="Alias@Example.ORG"),
    person("better", "Yan Upward", HALF, NUMBERS, again=(RIGHT, WHOLE)),
    person("poorer", "Zed Downward", RIGHT, again=(HALF, NUMBERS)),
    person("by-hand", "Abe Judged", HALF, NUMBERS, again=(answers("return x * 2.0"), NUMBERS), lessons=LESSONS),
    person("gone", "Bea Leaver", RIGHT),
]  # fmt: skip
STRANGER = person("9999", "Eve Unlisted", RIGHT, number="9999", lessons=(CANVAS, FOLDER))
EVERYBODY = [*CLASS, STRANGER]


def number_of(who: Person) -> str:
    """The student's number on Canvas, and in Moodle's worksheet."""
    return who.number or str(501 + CLASS.index(who))


def hand_in(who: Person, work: Work) -> list[File]:
    """What somebody hands in for a lesson, the oldest file first."""
    if who.hands_in is None or work.lesson not in who.lessons:
        return []
    return list(who.hands_in(work))


def canvas_zip(work: Work, *, again: bool = False) -> bytes:
    """What Canvas gives out: of who handed in again the new files in place of the old."""
    files = []
    for who in EVERYBODY:
        number, some = number_of(who), hand_in(who, work)
        first = 1000 * int(number)
        if again and who.again:
            some, first = list(who.again[0](work)), first + 100
        letters = re.sub(r"\W", "", f"{who.last}{who.first}".lower()) or "x"
        files += [(f"{letters}_{number}_{first + n}_{name}", data, 1) for n, (name, data) in enumerate(some)]
    return dated_zip(files)


def moodle_zip(work: Work) -> bytes:
    """What Moodle gives out."""
    files = []
    for who in CLASS:
        full = re.sub(r"""[&<>"`|':\\/]""", "", f"{who.first} {who.last}")  # as Moodle's clean_filename
        folder = f"{full}_{number_of(who)}_assignsubmission_file"
        files += [(f"{folder}/{name}", data, day) for day, (name, data) in enumerate(hand_in(who, work), 1)]
    return dated_zip(files)


def table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows(rows)


def class_list(path: Path) -> None:
    """Write the list that nbgrader imports."""
    rows = [[who.id, who.first, who.last, who.email, number_of(who)] for who in CLASS]
    table(path, [["id", "first_name", "last_name", "email", "lms_user_id"], *rows])


def canvas_gradebook(path: Path) -> None:
    """Write the gradebook that Canvas exports; there one lesson has a column, called as people write it."""
    rows = [[f"{who.last}, {who.first}", number_of(who), who.id, who.email, "A", ""] for who in CLASS]
    points = ["    Points Possible", "", "", "", "", f"{sum(CANVAS.points.values()):.2f}"]
    table(path, [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", CANVAS_COLUMN], points, *rows])


def moodle_worksheet(path: Path, times: Callable[[Person], str]) -> None:
    """Write the worksheet that Moodle gives out, with the times of hand-ins."""
    headings = "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed"
    more = "Last modified (submission),Last modified (grade),Feedback comments"
    rows = []
    for who in CLASS:
        has = who.hands_in is not None and MOODLE in who.lessons
        state = "Submitted for grading" if has else "No submission"
        told = [state, "", f"{sum(MOODLE.points.values()):.2f}", "Yes", times(who) if has else "-", "-", ""]
        rows.append([f"Participant {number_of(who)}", f"{who.first} {who.last}", who.email, *told])
    table(path, [f"{headings},{more}".split(","), *rows])

"""Under which names Canvas and Moodle take a student's page back; a name that could mean another is never given."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.collect.download import Download, safe_name
from autograder.collect.people import People
from autograder.collect.platforms import AGAIN, ENGLISH, NAMES, canvas_name, canvas_student
from autograder.course.config import CourseError
from autograder.export.moodle import matches_of, strangers_of
from autograder.grading.gradebook.reader import Student
from autograder.grading.submission.reader import NOTEBOOK
from autograder.spreadsheets.sheet import Sheet


@dataclass
class PageNames:
    """What a platform calls the class."""

    names: dict[str, str] = field(default_factory=dict)  # student → the page's name in the zip file
    why_not: dict[str, str] = field(default_factory=dict)  # student → why there is none
    strangers: list[str] = field(default_factory=list)  # who is in the platform's file and not in the gradebook
    orders: dict[str, float] = field(default_factory=dict)  # student → Canvas' highest number of a file of theirs


def for_moodle(sheet: Sheet, students: Mapping[str, Student], lesson: str) -> PageNames:
    """Name pages for *Upload multiple feedback files in a zip*.

    Moodle (mod/assign/feedback/file/importziplib.php) cuts the folder's name at its underscores, and the second piece
    is the student's number in this very assignment, which the worksheet's first column has.

    Raises:
        CourseError: the file is no worksheet that says who is who.
    """
    identifier = sheet.require("Identifier", advice=ENGLISH)
    number_of = {}
    for row in sheet.rows[1:]:
        if number := re.search(r"([0-9]+)\s*$", sheet.get(row, identifier)):
            number_of[row.line] = number[1]
    times = Counter(number_of.values())
    matches = matches_of(sheet, students.values())
    strangers = [f"{stranger}." for stranger in strangers_of(sheet, matches)]
    found = PageNames(why_not=dict(matches.why_not), strangers=strangers)
    for student, row in matches.rows.items():
        number_there = number_of.get(row.line, "")
        if times[number_there] == 1:
            full_name = safe_name(sheet.get(row, sheet.column("Full name"))).replace("_", " ").strip(" .")
            found.names[student] = f"{full_name}_{number_there}_assignsubmission_file_/{lesson}_feedback.html"
        else:
            why_not = f"several rows have their number, {number_there}" if number_there else "their row has no number"
            found.why_not[student] = f"{why_not}, under Identifier in {sheet.path.name}"
    return found


def for_canvas(download: Download, students: Mapping[str, Student], lesson: str) -> PageNames:
    """Name pages for *Upload Submissions*, which puts each as a comment to the file that was handed in.

    Canvas (app/models/abstract_assignment.rb) cuts a file's name at its underscores: the first two pieces that are
    numbers are the user's and that of a file which this user handed in. No other piece may therefore be a number.

    Raises:
        CourseError: nothing in the download has a name of Canvas'.
    """
    found, people, newest = PageNames(), People.of(students), dict[str, tuple[tuple[bool, int], str]]()
    users, highest = set[str](), Counter[str]()
    for file in download.files:
        if not (name := canvas_name(file)):
            continue
        user, parts = name["user"], name.groupdict()
        users.add(user)
        if not parts["attachment"]:
            continue
        highest[user] = max(highest[user], int(parts["attachment"]))
        anonymous = user.startswith("anon_")
        words = [] if anonymous else [word for word in parts["name"].split("_") if word and not word.isdigit()]
        order = NOTEBOOK.search(parts["file"]) is not None, int(parts["attachment"])
        page = "_".join([*words, user, parts["attachment"], f"{lesson}_feedback.html"])
        newest[user] = max(newest.get(user, (order, page)), (order, page))
    if not users:
        raise CourseError(f"{download.path} has no names like {NAMES['canvas']}. {AGAIN}")
    for user in sorted(users):
        student = canvas_student(user, people)
        claims = [one.id for one in students.values() if one.lms_id.strip() == user]
        if len(claims) > 1:
            found.why_not |= dict.fromkeys(claims, f"{' and '.join(claims)} have the same id in Canvas, {user}")
        elif student not in students:
            found.strangers.append(f"{download.path.name}: Canvas' user {user} is not in the gradebook.")
        elif user not in newest:
            found.why_not[student] = f"they handed in no file, says {download.path.name}, and Canvas takes no page then"
        else:
            found.names[student], found.orders[student] = newest[user][1], highest[user]
    return found

"""The engine grades whatever is taught: two lessons on numbers, from release to the files of other programs."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.sample_lesson import README, ROOT, cell, code, sample_lesson, write_lesson, write_pyproject
from support.warm import Lent

from autograder import cli
from autograder.course.lesson import is_marked
from autograder.demo import sample_class
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.results import Status
from autograder.grading.worker.client import GradingServer
from autograder.stub import STUB

PRIMES, SORTING = "01_primes", "02_sorting"
SETUP = "import random\n\nfrom autograder import check"
ANSWER = '''\
def {name}:
    """{says}"""
    # TODO: one line is enough.
    ### BEGIN SOLUTION
    return {value}
    ### END SOLUTION'''
# In plain asserts; `data` is a name that other lessons import a module by.
PRIME_CHECKS = [
    "assert all(is_prime(n) for n in data)\n### BEGIN HIDDEN TESTS\nassert not is_prime(91)\n### END HIDDEN TESTS",
    'assert not is_prime(1), "1 is no prime number."',
]
SORT_CHECKS = [
    """\
@check.exercise("2.1 in_order")
def it_is_sorted():
    for items in ([], data):
        check.same("in_order(items)", in_order(items), sorted(items))
### BEGIN HIDDEN TESTS
@check.exercise("2.1 in_order")
def it_is_sorted_whatever_it_holds():
    items = random.sample(range(100), 20)
    check.same("in_order(items)", in_order(items), sorted(items))
### END HIDDEN TESTS""",
    """\
@check.exercise("2.1 in_order")
def the_list_stays_as_it_was():
    check.leaves_alone("in_order(items)", in_order, {"items": [3, 1, 2]})""",
]
PASSED, FAILED, OPEN = Status.PASSED, Status.FAILED, Status.NOT_ATTEMPTED
# Of each student and lesson: the answer's last line, None where it is untouched, and what comes of it, by check.
WORK: dict[tuple[str, str], tuple[str | None, list[tuple[Status, str]]]] = {
    ("ada", PRIMES): ("return n > 1 and all(n % d for d in range(2, n))", [(PASSED, ""), (PASSED, "")]),
    ("ada", SORTING): ("return sorted(items)", [(PASSED, ""), (PASSED, "")]),
    ("ben", PRIMES): (
        "return n > 1 and n != 5",
        [(FAILED, "✗ `all(is_prime(n) for n in data)` does not hold."), (PASSED, "")],
    ),
    ("ben", SORTING): (
        "return items.sort() or items",
        [(PASSED, ""), (FAILED, "✗ `in_order(items)` changes `items`, which belongs to the caller.")],
    ),
    ("cleo", PRIMES): (
        "return True",
        [(FAILED, "✗ A case that is not shown does not hold."), (FAILED, "1 is no prime number.")],
    ),
    ("cleo", SORTING): (
        "return itmes",
        [(FAILED, "✗ `in_order` raised NameError."), (FAILED, "✗ `in_order` raised NameError.")],
    ),
    ("dan", PRIMES): (None, 2 * [(OPEN, "✗ `is_prime` is not written yet.")]),
    ("dan", SORTING): (None, 2 * [(OPEN, "✗ `in_order` is not written yet.")]),
}
CANVAS = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,{PRIMES} (1),{SORTING} (2)
    Points Possible,,,,,4.00,4.00
Ada,1,ada,ada,A,,
Ben,2,ben,ben,A,,
Cleo,3,cleo,cleo,A,,
Dan,4,dan,dan,A,,
"""
POINTS = {"ada": (4, 4), "ben": (1, 3), "cleo": (0, 0), "dan": (0, 0)}


def lesson(number: int, name: str, arguments: str, value: str, checks: list[str]) -> dict[str, Any]:
    """A lesson of one exercise, without what is the course's own about the sample."""
    notebook: dict[str, Any] = json.loads(json.dumps(sample_lesson(number)).replace("double", name))
    dropped = {"surprise", "predict_length", "figure_length", f"try_{name}"}
    notebook["cells"] = [each for each in notebook["cells"] if each["id"] not in dropped]
    notebook["cells"].insert(4, code("numbers", "data = [5, 2, 3]"))
    cell(notebook, "setup")["source"] = SETUP
    answer = ANSWER.format(name=f"{name}({arguments})", says="Return what the text asks for.", value=value)
    cell(notebook, name)["source"] = answer
    for check, source in zip((f"check_{name}", f"check_{name}_text"), checks, strict=True):
        cell(notebook, check)["source"] = f'{source}\nprint("That is right.")'
    return notebook


def own_course(root: Path) -> Path:
    """A course with these two lessons, configured as ours but for the cells that are the same in all of our lessons."""
    write_lesson(root, lesson(1, "is_prime", "n", "n > 1 and all(n % d for d in range(2, n))", PRIME_CHECKS), PRIMES)
    write_lesson(root, lesson(2, "in_order", "items", "sorted(items)", SORT_CHECKS), SORTING)
    write_pyproject(root)
    (root / "README.md").write_text(README, encoding="utf-8")
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    config = config.replace("c.Autograder.cells = CELLS\n", "").replace('"transformer"', '"numbers"')
    (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
    return root


def hand_in(course: Path) -> None:
    """Put everybody's work into submitted/, as written into what was released."""
    for (student, name), (line, _) in WORK.items():
        notebook = sample_class.released_notebook(course, name)
        for each in notebook.cells:
            if line and is_marked(each, "solution"):
                each.source = each.source.replace(STUB, line)
        sample_class.hand_in(course, student, name, notebook)


def test_lessons_on_something_else_go_all_the_way(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Released with its own setup cell, answered rightly, wrongly and not at all, graded, reported and exported."""
    course = own_course(tmp_path / "course")
    monkeypatch.chdir(course)
    assert cli.main(["release"]) == 0, capsys.readouterr()
    released = json.loads((course / "notebooks" / PRIMES / f"{PRIMES}.ipynb").read_text(encoding="utf-8"))
    assert "".join(cell(released, "setup")["source"]) == SETUP
    hand_in(course)
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 0

    book = read_gradebook(course)
    for (student, name), (_, expected) in WORK.items():
        result = book.graded[student, name].result
        assert result is not None and not result.notes
        assert [check.status for check in result.checks] == [status for status, _ in expected], (student, name)
        for check, (_, says) in zip(result.checks, expected, strict=True):
            assert check.message.startswith(says) and bool(check.message) == bool(says), (student, name, check.message)
            assert "91" not in check.message

    for options in ([], ["--student", "*"]):
        assert cli.main(["report", *options]) == 0, capsys.readouterr()
    pages = {path.relative_to(course).as_posix(): path.read_text(encoding="utf-8") for path in course.rglob("*.html")}
    assert pages.keys() == {"report.html", *(f"feedback/{student}/feedback.html" for student in POINTS)}
    assert not any("Transformer" in page or "91)" in page for page in pages.values())
    assert "does not hold" in pages["feedback/ben/feedback.html"] and "in_order" in pages["report.html"]

    (course / "canvas.csv").write_text(CANVAS, encoding="utf-8")
    columns = {"csv": f"{PRIMES} (4)", "canvas": f"{PRIMES} (1)", "moodle": PRIMES}
    for form, *options in (["csv", "--wide"], ["canvas", "canvas.csv"], ["moodle", "--by", "username"]):
        assert cli.main(["export", form, *options, "--output", f"{form}_out.csv"]) == 0, capsys.readouterr()
        with Path(f"{form}_out.csv").open(encoding="utf-8-sig", newline="") as file:
            given = [float(row[columns[form]]) for row in csv.DictReader(file)]
        assert given[-len(POINTS) :] == [primes for primes, _ in POINTS.values()], form

"""A class of three: ada and bob handed in, late; ada has a name and two days more; eve has done nothing."""

from datetime import datetime
from pathlib import Path

import pytest
from support.downloads import collect, notebook, zipped
from support.gradebook import LESSON, record, set_duedate

from autograder import cli
from autograder.demo.sample_class import open_gradebook

LATE = datetime(2030, 1, 2, 13, 0)


@pytest.fixture(autouse=True)
def _in_course(course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Collect and record the class, in the current folder."""
    monkeypatch.chdir(course)
    monkeypatch.setenv("COLUMNS", "120")
    set_duedate(course)
    data = notebook(course)
    assert collect("folder", zipped({f"ada/{LESSON}.ipynb": data, f"bob/{LESSON}.ipynb": data})) == 0
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Löve", email="ada@example.org")
        gradebook.update_or_create_student("eve", first_name="Eve")
    assert cli.main(["student", "extend", LESSON, "ada", "--by", "2d"]) == 0
    record(course, ["ada", "bob"], LATE)
    capsys.readouterr()

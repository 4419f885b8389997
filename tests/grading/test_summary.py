"""What `autograder grade` says at its end is what counts: points by hand, what being late costs, what waits."""

import json
import shutil
from pathlib import Path

import pytest
from support.gradebook import LESSON, Pretender, configure, hand_in, handed_in_at, said, set_duedate

from autograder import cli
from autograder.demo.sample_class import open_gradebook
from autograder.grading.results import GradingServerError, Note, NoteKind
from autograder.grading.worker import client

LATE = "2030-01-02 13:00 UTC"


@pytest.fixture
def term(course: Path) -> Path:
    """A graded class: bob was late, which costs all; cem has no notebook; eve has 4 points by hand for the second."""
    set_duedate(course)
    hand_in(course, "ada", "bob", "eve")
    handed_in_at(course, "bob", LATE)
    (course / "submitted" / "cem" / LESSON).mkdir(parents=True)
    said(course)
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
        gradebook.find_grade("check_double_text", LESSON, LESSON, "eve").manual_score = 0.5
        gradebook.db.commit()
    return course


def test_the_table_has_the_points_that_count(term: Path) -> None:
    """Points by hand and for being late are in it and marked, names stand beside ids."""
    rows = [" ".join(line.split()) for line in said(term, force=True).splitlines()]
    assert [row for row in rows if f" {LESSON} " in row] == [
        f"ada (Ada Lovelace) {LESSON} 3 of 4",
        f"bob {LESSON} 0 of 4 Late: −3.",
        f"cem {LESSON} – There is no notebook. It should be called {LESSON}.ipynb.",
        f"eve {LESSON} 3.5 of 4 Points by hand. To be looked at.",
    ]


def test_in_80_columns_notes_stand_beneath(course: Path) -> None:
    """A note that does not fit into its line has lines of its own, and what is so of several answers is told once."""
    found = (
        Note(NoteKind.ANSWER, f"The answer `{name}` was found by its name; its cell had lost its mark.", name)
        for name in ("double", "halve", "triple")
    )
    hand_in(course, "ada")
    assert [line.rstrip() for line in said(course, {"notes": tuple(found)}, width=80).splitlines()][-4:-1] == [
        f"ada      {LESSON}  3 of 4",
        "  The answer `double` was found by its name; its cell had lost its mark. The",
        "  same goes for `halve` and `triple`.",
    ]


def test_json_says_the_same(term: Path) -> None:
    """Each result has what counts beside what its checks came to."""
    whole = json.loads(said(term, force=True, as_json=True))
    assert whole["students"] == {"ada": "Ada Lovelace", "bob": "bob", "cem": "cem", "eve": "eve"}
    counts = {result["student"]: result["counts"] for result in whole["graded"]}
    plain = {"max_points": 4.0, "penalty": 0.0, "by_hand": [], "to_review": []}
    assert counts == {
        "ada": plain | {"points": 3.0},
        "bob": plain | {"points": 0.0, "penalty": 3.0},
        "cem": plain | {"points": 0.0},
        "eve": plain | {"points": 3.5, "by_hand": ["check_double_text"], "to_review": ["check_double_text"]},
    }


def test_what_is_taken_off_follows_the_due_date_and_the_rule(term: Path) -> None:
    """Nobody is graded again for it; who is concerned is named, once, with the points before and after."""
    with open_gradebook(term) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=LATE)
    words = f"bob, {LESSON}: 0 points off for being late, 3 before."
    assert words in (text := said(term)) and "✓ 0 graded" in text
    assert "off for being late" not in said(term)
    set_duedate(term)
    (change,) = json.loads(said(term, as_json=True))["penalties"]
    assert change == {"lesson": LESSON, "student": "bob", "before": 0.0, "after": 3.0}
    configure(term, 'c.LateSubmissionPlugin.penalty_method = "none"')
    assert words in said(term)


def test_what_could_not_be_recorded_counts_nothing(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the gradebook has nothing of a submission, no points are shown."""
    configure(course, "c.Autograde.create_student = False")
    hand_in(course, "ada")
    said_lines = said(course).splitlines()
    (at,) = [at for at, line in enumerate(said_lines) if line.startswith("ada")]
    assert said_lines[at].split()[2:] == ["–"] and said_lines[at + 1].startswith("  It could not be recorded.")
    (result,) = json.loads(said(course, as_json=True))["graded"]
    assert result["counts"] is None


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), GradingServerError("The warm process ended.")], ids=repr)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "What was graded is recorded; the same command goes on.\n"),
        (["--force"], "What was graded is recorded; the same command grades all of it again, and without --force "),
        (["--force", "--dry-run"], "Nothing was recorded, being a dry run.\n"),
    ],
)
def test_a_stopped_run_promises_what_holds(
    course: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    says: str,
    stop: BaseException,
) -> None:
    """After Ctrl-C, and where grading cannot go on, it says what is recorded and what the same command would do."""

    def stopped(*_: object) -> None:
        raise stop

    hand_in(course, "ada")
    monkeypatch.setattr(Pretender, "grade", stopped)
    monkeypatch.setattr(client, "GradingServer", lambda **_: Pretender(course))
    monkeypatch.chdir(course)
    assert cli.main(["grade", *options]) in (2, 130)
    assert says in capsys.readouterr().err


def test_what_lies_in_no_lessons_folder_is_named(course: Path) -> None:
    """Whatever is graded; a student's folder beside submitted/, and a lesson's among those of students, with what was
    meant.
    """
    hand_in(course, "ada", "bob", "eve")
    said(course)
    submitted = course / "submitted"
    (submitted / "ada").rename(course / "ada")
    (submitted / "bob" / "1_doubling").mkdir()
    for place in ("", "1_doubling"):
        shutil.copy(submitted / "bob" / LESSON / f"{LESSON}.ipynb", submitted / "bob" / place)
    (submitted / "eve" / LESSON).rename(submitted / LESSON)
    text = said(course, lessons=[LESSON])
    bobs = f"submitted/bob/{LESSON}.ipynb, submitted/bob/1_doubling/{LESSON}.ipynb"
    strays = f"ada/{LESSON}/{LESSON}.ipynb, submitted/{LESSON}/{LESSON}.ipynb, {bobs}"
    assert f"Not graded, being in no lesson's folder: {strays}." in " ".join(text.split()) and "1 unchanged" in text
    assert "\nA notebook belongs into submitted/<student>/<lesson>/.\n" in text
    assert "ada/ has the name of a student: did you mean submitted/ada/<lesson>/?\n" in text
    assert f"submitted/{LESSON}/ has the name of a lesson: did you mean submitted/<student>/{LESSON}/?\n" in text


def test_a_whole_class_in_the_wrong_folder_is_named(course: Path) -> None:
    """Each of two hundred notebooks in no lesson's folder is named; of more, the rest is in the JSON."""
    hand_in(course, "ada")
    for number in range(201):
        path = course / "submitted" / "class" / f"{number:03}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    text = said(course)
    assert all(f"submitted/class/{number:03}.ipynb" in text.replace("\n", "") for number in range(200))
    assert "and 1 more, which --json names" in " ".join(text.split())
    assert len(json.loads(said(course, as_json=True))["strays"]) == 201

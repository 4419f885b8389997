"""`autograder collect` from the command line: a class as it is, again and again, and whatever stops it."""

import html
import importlib
import json
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel
from rich.console import Console
from support.downloads import collect, encrypted, notebook, snapshot, submitted, zipped
from support.gradebook import LESSON, disk_full, set_duedate
from support.sample_lesson import ROOT
from support.warm import Lent

from autograder import cli
from autograder.collect.place import Submitted
from autograder.course.paths import Course
from autograder.demo.sample_class import open_gradebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.worker.client import GradingServer

NAME = f"{LESSON}.ipynb"
SAMPLES = ROOT / "tests" / "export" / "samples"
CUT_OFF = "`hw.zip` is no zip file that can be opened, or was cut off."
ONLY = "Hand in the notebook itself, 01_doubling.ipynb."


def messy(course: Path) -> dict[str, bytes | str]:
    """A class as Canvas gives it out, with what students hand in in place of a notebook."""
    data = notebook(course)
    return {
        "lovelaceada_901_1001_01_doubling.ipynb": data,
        "núñezinés_LATE_902_1002_Lesson.IPYNB": data,
        "evilbob_903_1003_answer.py": "def double(x): return 2 * x",
        "hoppergrace_904_1004_homework.zip": zipped({"my homework/again.zip": zipped({"01_doubling-1.ipynb": data})}),
        "hoppergrace_904_1005_notes.txt": "see zip",
        "x_906_1006_hw.zip": zipped({NAME: data})[:200],
        "x_907_1007_page.html": "<html>",
        "x_908_text.html": "<p>I forgot the file.</p>",
        "x_909_1009_hw.zip": encrypted(zipped({NAME: data})),
        "x_910_1010_01_doubling.ipynb": b"",
        "x_911_1011_01_doubling-1.ipynb": data,
        "x_911_1001_01_doubling.ipynb": "{}",
        "x_912_1012_evil.zip": zipped({"../../../../escaped.py": "x", "/tmp/escaped.py": "y", "..\\w.ipynb": data}),
        "anon_Ab3xY_1013_01_doubling.ipynb": data,
        "Zoë_914_1014_‮Übung 1 – Lösung.ipynb": data,
        "readme.txt": "nobody's",
    }


def test_a_messy_class_is_collected_whole(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing stops it and nobody is dropped: each is placed, or kept with the reason why it cannot be graded."""
    before = snapshot(course.parent)
    assert collect("canvas", zipped(messy(course)), "--people", SAMPLES / "canvas.csv") == 0
    data, said = notebook(course), capsys.readouterr().out
    for student in ("901", "902", "904", "911", "912", "914", "anon_Ab3xY"):
        assert submitted(course, student)[NAME] == data, student
    assert submitted(course, "904") == {NAME: data, "others/notes.txt": b"see zip"}
    assert submitted(course, "911") == {NAME: data, f"others/{NAME}": b"{}"}
    assert set(submitted(course, "912")) == {NAME, "others/evil/escaped.py", "others/evil/tmp/escaped.py"}
    new = set(snapshot(course.parent)) - set(before)
    inside = ("course/submitted/", "course/submissions.zip", "course/gradebook.db", "course/__pycache__")
    assert not [path for path in new if not path.startswith(inside)], "nothing lies elsewhere"
    assert "✓ 01_doubling: 13 new, 0 replaced, 0 unchanged." in said
    reasons = said[said.index("Not gradable as it is:") : said.index("Not in the gradebook before")].splitlines()[1:]
    assert reasons == [
        f"  903 (Bob =Evil): There is no notebook, only `answer.py`. {ONLY}",
        f"  906: There is no notebook, only `hw.zip`. {ONLY} {CUT_OFF}",
        f"  907: There is no notebook, only `page.html`. {ONLY}",
        f"  908: There is no notebook, only `text.html`. {ONLY}",
        f"  909: There is no notebook, only `hw.zip`. {ONLY} `01_doubling.ipynb` is encrypted.",
        "  910: The file is empty. Hand it in again.",
    ]
    assert "902 (Inés Núñez): Late, says Canvas." in said
    assert "911: `01_doubling-1.ipynb` counts, being the newest" in said
    strangers = said[said.index("Not in the gradebook before") : said.index("Left out, since the name")]
    assert [line.split()[0] for line in strangers.splitlines()[1:]] == [
        *("906", "907", "908", "909", "910", "911", "912", "914", "anon_Ab3xY")
    ]
    assert "whose it is:\n  readme.txt\n" in said
    assert said.splitlines()[-1] == "Handed in nothing (1): 905 (Jane Nobody)."
    assert "‮" not in said


def test_whoever_opens_a_collected_or_graded_notebook_runs_no_file_of_the_students(
    course: Path, warm: GradingServer, tmp_path: Path
) -> None:
    """A kernel starts where its notebook lies, and finds what lies there before Python's own modules."""
    ran = tmp_path / "ran"
    attacks = ("ipykernel_launcher", "colorsys", "sitecustomize", "usercustomize", "IPython", "jupyter_server_config")
    evil = f"open({str(ran)!r}, 'a').write(__file__)"
    files: dict[str, bytes | str] = {f"ada/{name}.py": evil for name in attacks}
    files |= {f"ada/{NAME}": notebook(course), "ada/traitlets/__init__.py": evil}
    assert collect("folder", zipped(files)) == 0
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 0
    for folder in (course / "submitted" / "ada" / LESSON, course / "autograded" / "ada" / LESSON):
        assert len(list(folder.glob("others/**/*.py"))) == len(attacks) + 1
        manager, client = start_new_kernel(cwd=str(folder))
        try:
            reply = client.execute_interactive("import colorsys, traitlets", timeout=60)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        assert reply["content"]["status"] == "ok" and not ran.exists()


def test_another_lessons_notebook_is_said_to_be_one_everywhere(
    course: Path, warm: GradingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """When it is collected and graded, in status, on both pages and in each export, the reason stands."""
    other = release_another(course)
    files: dict[str, bytes | str] = {f"ada_{NAME}": other.read_bytes(), f"bob_{NAME}": '{"cells": []}'}
    reason = "This is the notebook of lesson 02_other, and none of this lesson's exercises is in it. Hand in the n"
    assert collect("folder", zipped(files)) == 0
    assert f"  ada: {reason}" in (said := capsys.readouterr().out) and "  bob: There is no cell with anything" in said
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 1
    for command in ("status", "report", "report --student ada", "export csv", "export gradescope", "export canvas"):
        assert cli.main(command.split()) in (0, 1)
    said = " ".join(" ".join(capsys.readouterr()).split())
    assert f" ada: {reason}" in said and f"ada, {LESSON}: could not be graded, and has 0. {reason}" in said
    for name in (
        *("report.html", "feedback/ada/feedback.html", "grades.csv", f"gradescope/ada/{LESSON}/results.json"),
        f"autograded/ada/{LESSON}/{NAME}",
    ):
        text = html.unescape((course / name).read_text(encoding="utf-8"))
        assert reason in text and "Not tried" not in text, name


def test_files_of_other_lessons_are_counted(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of the whole term holds them, and none is anybody's who has lost it."""
    release_another(course)
    files: dict[str, bytes | str] = {f"{who}_{NAME}": notebook(course) for who in ("ada", "bob")}
    files |= {f"{who}_02_other.ipynb": "{}" for who in ("ada", "bob", "cem")} | {"homework.ipynb": "{}"}
    assert collect("folder", zipped(files)) == 0
    said = capsys.readouterr().out
    assert "Left out, since the name does not say whose it is:\n  homework.ipynb\n" in said
    assert "Left out, since this collects one lesson:\n  3 files of 02_other\n" in said


def release_another(course: Path) -> Path:
    """A second lesson, whose exercise is called otherwise."""
    other = course / "solutions" / "02_other" / "02_other.ipynb"
    other.parent.mkdir()
    other.write_bytes((course / "solutions" / LESSON / NAME).read_bytes().replace(b"double", b"triple"))
    return other


def test_the_wrong_download_is_known(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where all notebooks are another lesson's, that stands first, and the right download replaces them, if older."""
    other = release_another(course)
    wrong = {f"x_{n}_{n}00_02_other.ipynb": other.read_bytes() for n in (7, 8)} | {"x_9_900_a.py": "x"}
    headline = f"✗ All 2 notebooks are of lesson 02_other, and none is of {LESSON}: this is probably"
    assert collect("canvas", zipped(wrong)) == 1
    assert capsys.readouterr().out.startswith(headline)
    right: dict[str, bytes | str] = {f"x_{n}_{n}_hw.ipynb": notebook(course) for n in (7, 8)}
    assert collect("canvas", zipped(right)) == 0
    assert "0 new, 2 replaced" in (said := capsys.readouterr().out) and said.startswith("✓")
    assert submitted(course, "7") == {NAME: notebook(course)}
    assert collect("canvas", zipped({**wrong, "x_6_600_hw.ipynb": notebook(course)})) == 0
    assert capsys.readouterr().out.startswith("✓"), "somebody has the right one"


def test_the_same_download_changes_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run writes no file anew and says the same of what is odd."""
    download = zipped(messy(course))
    assert collect("canvas", download) == 0
    first, before = capsys.readouterr().out, snapshot(course / "submitted")
    assert collect("canvas", download) == 0
    second = capsys.readouterr().out
    assert snapshot(course / "submitted") == before
    assert "✓ 01_doubling: 0 new, 0 replaced, 13 unchanged." in second
    assert second.splitlines()[1:] == first.splitlines()[1:]


def test_a_later_download_adds_what_is_new(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """New hand-ins come, a new version replaces the old one, which is kept, and what is older than that stays out."""
    data = notebook(course)
    first = zipped({"a_1_100_01_doubling.ipynb": b"first", "b_2_101_hw.ipynb": data, "b_2_102_more.py": "x"})
    second = zipped({"a_1_200_01_doubling-1.ipynb": data, "b_2_101_hw.ipynb": data, "c_3_201_hw.ipynb": data})
    third = zipped({"a_1_300_01_doubling-2.ipynb": b"third"})
    for download, says in (
        (first, "2 new, 0 replaced, 0 unch"),
        (second, "1 new, 1 replaced, 0 unch"),
        (third, "0 new, 1"),
    ):
        assert collect("canvas", download) == 0
        assert says in (said := capsys.readouterr().out), said
    assert submitted(course, "1") == {NAME: b"third"} and submitted(course, "2")["others/more.py"] == b"x"
    kept = snapshot(course / "submitted" / ".replaced")
    assert {path: old for path, (old, _) in kept.items()} == {
        f"1/{LESSON}/1/{NAME}": b"first",
        f"1/{LESSON}/2/{NAME}": data,
    }
    assert collect("canvas", second) == 0
    said = capsys.readouterr().out
    assert submitted(course, "1") == {NAME: b"third"}
    assert "Older than what is there, and left out:\n  1\n" in said
    assert Course.at(course).students(LESSON) == ["1", "2", "3"] and not Course.at(course).strays()


def test_what_somebody_changed_stays(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder changed by hand, or put there otherwise, is left alone and named, whatever is downloaded then."""
    by_hand = course / "submitted" / "carl" / LESSON
    by_hand.mkdir(parents=True)
    (by_hand / "mine.ipynb").write_bytes(b"by hand")
    files = {"ada/hw.ipynb": b"{}", "bob/hw.ipynb": b"{}", "carl/hw.ipynb": b"{}"}
    assert collect("folder", zipped(files)) == 0
    assert "collect again:\n  carl\n" in capsys.readouterr().out
    (course / "submitted" / "ada" / LESSON / NAME).write_bytes(b"mended")
    (course / "submitted" / "bob" / LESSON / "note.txt").write_bytes(b"looked at")
    (course / "submitted" / "bob" / LESSON / ".ipynb_checkpoints").mkdir()
    for download in (files, {**files, "ada/hw.ipynb": b"newer"}):
        assert collect("folder", zipped(download)) == 0
        assert "collect again:\n  ada\n  bob\n  carl\n" in capsys.readouterr().out
    assert submitted(course, "ada") == {NAME: b"mended"} and submitted(course, "carl") == {"mine.ipynb": b"by hand"}
    (course / "submitted" / "ada" / LESSON / NAME).rename(course / "elsewhere.ipynb")
    (course / "submitted" / "ada" / LESSON).rmdir()
    assert collect("folder", zipped(download)) == 0
    assert submitted(course, "ada") == {NAME: b"newer"}


def test_an_editors_hidden_files_are_no_change(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What Jupyter or a system leaves in a folder is not a person's work."""
    files = {"ada/hw.ipynb": b"{}"}
    assert collect("folder", zipped(files)) == 0
    (course / "submitted" / "ada" / LESSON / ".ipynb_checkpoints").mkdir()
    (course / "submitted" / "ada" / LESSON / ".ipynb_checkpoints" / "x.ipynb").write_bytes(b"")
    assert collect("folder", zipped({"ada/hw.ipynb": b"new"})) == 0
    assert "1 replaced" in capsys.readouterr().out


@pytest.mark.parametrize("call", ["os.replace", "pathlib.Path.rename", "autograder.files.sync_folder"])
@pytest.mark.parametrize("after", range(8))
def test_a_run_that_was_stopped_is_completed_by_the_next(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], call: str, after: int
) -> None:
    """Wherever it ends, the same command leaves what it would have left, and takes nothing for a person's change."""
    old = zipped({"ada/hw.ipynb": b"old", "bob/hw.ipynb": b"{}"})
    new = zipped({"ada/hw.ipynb": b"new", "bob/hw.ipynb": b"{}", "carl/hw.ipynb": b"{}"})
    assert collect("folder", old) == 0
    with monkeypatch.context() as patch:
        stop_after(patch, call, after)
        done = collect("folder", new)
    assert done == 130 or (done == 0 and after >= 2)
    capsys.readouterr()
    assert collect("folder", new) == 0
    said = capsys.readouterr().out
    assert "Changed in submitted/" not in said and "Could not" not in said
    for student, data in (("ada", b"new"), ("bob", b"{}"), ("carl", b"{}")):
        assert submitted(course, student) == {NAME: data}
    kept = [data for data, _ in snapshot(course / "submitted" / ".replaced").values()]
    assert kept == [b"old"]
    assert collect("folder", new) == 0
    assert "0 new, 0 replaced, 3 unchanged" in capsys.readouterr().out


def stop_after(patch: pytest.MonkeyPatch, call: str, count: int) -> None:
    """Let a function work so often, and then end the run as Ctrl-C or a kill would."""
    module, _, name = call.rpartition(".")
    holder = Path if module == "pathlib.Path" else importlib.import_module(module)
    real, left = getattr(holder, name), [count]

    def stopped(*arguments: object) -> object:
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(*arguments)

    patch.setattr(holder, name, stopped)


def test_one_that_cannot_be_written_stops_no_other(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hand-in for which the disk has no room is named, the others are placed, and the exit status says so."""
    place = Submitted.place

    def full_for_bob(self: Submitted, student: str, *arguments: object) -> object:
        return disk_full() if student == "bob" else place(self, student, *arguments)

    monkeypatch.setattr(Submitted, "place", full_for_bob)
    assert collect("folder", zipped({f"{name}/hw.ipynb": b"{}" for name in ("ada", "bob", "carl")})) == 1
    assert "Could not be put into submitted/:\n  bob: OSError: [Errno 28] No space left" in capsys.readouterr().out
    assert submitted(course, "ada") and submitted(course, "carl")


def test_what_is_written_down_is_checked(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list of digests that is none is not trusted; moved away, what is in submitted/ is known again by itself."""
    files = zipped({"ada/hw.ipynb": b"{}"})
    assert collect("folder", files) == 0
    state = course / "submitted" / ".collected.json"
    assert json.loads(state.read_text())[LESSON]["ada"]["digest"]
    for broken in ("", "[]", "{}{", '{"01_doubling": {"ada": {}}}', '{"01_doubling": []}'):
        state.write_text(broken)
        assert collect("folder", files) == 2
        assert f"{state} cannot be read" in capsys.readouterr().err
    state.unlink()
    assert collect("folder", files) == 0
    assert collect("folder", zipped({"ada/hw.ipynb": b"new"})) == 0
    assert submitted(course, "ada") == {NAME: b"new"}


def test_what_is_collected_is_graded(course: Path, warm: GradingServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Grading finds the notebooks, the names, the times and the reasons that collecting left."""
    set_duedate(course)
    files: dict[str, bytes | str] = {
        "Ada Lovelace_5501_assignsubmission_file/hw.IPYNB": (course / "solutions" / LESSON / NAME).read_bytes(),
        "Inés Núñez_5502_assignsubmission_file/answer.py": "def double(x): return 2 * x",
    }
    assert collect("moodle", zipped(files), "--worksheet", SAMPLES / "moodle_worksheet.csv") == 0
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 1
    book = read_gradebook(course)
    ada, ines = (book.graded[student, LESSON] for student in ("ada@example.org", "ines@example.org"))
    assert ada.score == 4 and str(ada.submitted) == "2026-03-02 09:14:00"
    assert ines.result.reason == f"There is no notebook, only `answer.py`. {ONLY}"
    assert book.students["ada@example.org"].name == "Ada Lovelace"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["folder", "09_none", "x.zip"], "There is no lesson 09_none"),
        (["folder", LESSON, "x.zip"], "There is no file and no folder x.zip"),
        (["canvas", LESSON, "some.zip", "--people", "none.csv"], "There is no file none.csv"),
        (["moodle", LESSON, "some.zip", "--worksheet", "people.csv"], "has no column “Identifier”"),
        (["github", LESSON, "people.csv", "--repository", "git@github.com:class.git"], "has no {student} in it"),
    ],
)
def test_what_is_asked_for_wrongly_is_told(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    """A lesson, file, list or address that is none ends the command with what is so, and nothing is collected."""
    (course / "some.zip").write_bytes(zipped({"ada/hw.ipynb": "x"}))
    (course / "people.csv").write_text("id\nada\n")
    assert cli.main(["collect", *arguments]) == 2
    assert says in capsys.readouterr().err and not (course / "submitted").exists()


def test_everybody_or_nobody_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a class list, that who is missing cannot be known; with all there, that nobody is; other ways count."""
    assert collect("folder", zipped({"ada/hw.ipynb": b"{}"})) == 0
    assert "is not known: there is no class list" in capsys.readouterr().out
    with open_gradebook(course) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_student("bob")
    (course / "submitted" / "bob" / LESSON).mkdir(parents=True)
    assert collect("folder", zipped({"ada/hw.ipynb": b"{}"})) == 0
    assert "Everybody in the gradebook has handed in something." in capsys.readouterr().out

"""Whose is what in a download, by the names that platforms publish."""

import re
import shutil
from pathlib import Path

import pytest
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import FileNameCollectorPlugin
from support.downloads import collect, notebook, snapshot, submitted, zipped
from support.gradebook import LESSON, db_url
from support.sample_lesson import ROOT
from traitlets.config import Config

from autograder.collect import platforms
from autograder.collect.download import Download
from autograder.collect.hand_in import HandIn
from autograder.collect.people import People, safe_id
from autograder.course.config import CourseError
from autograder.demo.sample_class import open_gradebook
from autograder.grading.gradebook.reader import Student

EXPORTED = ROOT / "tests" / "export" / "samples"
CANVAS, MOODLE = EXPORTED / "canvas.csv", EXPORTED / "moodle_worksheet.csv"
GRADESCOPE = Path(__file__).with_name("samples") / "submission_metadata.yml"
NAME = f"{LESSON}.ipynb"
NBGRADERS = (
    r".*/(?!(LATE_)?anon_)[^/]+?_(?P<student_id>\d+)_\d+_(?P<file_id>[^/]+)$"  # what one wrote for Canvas before
)


def found(tmp_path: Path, form: str, files: dict[str, bytes | str], people: People | None = None) -> platforms.Found:
    """Return what a platform's reader makes of a zip file."""
    (tmp_path / "sample.zip").write_bytes(zipped(files))
    people = people or People({})
    with Download(tmp_path / "sample.zip") as download:
        if form == "moodle":
            return platforms.moodle(download, people, MOODLE)
        if form == "folder":
            return platforms.folder(download, people, LESSON, [LESSON, "02_halving"])
        return getattr(platforms, form)(download, people)


def files_of(hand_ins: list[HandIn]) -> dict[str, list[str]]:
    """Return the paths in each student's hand-in."""
    return {one.student: [str(file.path) for file in one.files] for one in hand_ins}


@pytest.mark.parametrize(
    ("name", "student", "file"),
    [
        ("lovelaceada_501_9001_01_doubling.ipynb", "501", "01_doubling.ipynb"),
        ("hoppergrace_502_9002_01_doubling-1.ipynb", "502", "01_doubling-1.ipynb"),
        ("noetheremmy_LATE_503_9003_01_doubling (1).ipynb", "503", "01_doubling (1).ipynb"),
        ("noetheremmy_late_503_9003_01_doubling.ipynb", "503", "01_doubling.ipynb"),
        ("núñezinés_504_9004_Copy of 01_doubling.ipynb", "504", "Copy of 01_doubling.ipynb"),
        ("o_brienpat_505_9005_homework_7_8_.ipynb", "505", "homework_7_8_.ipynb"),
        ("李小龙_506_9006_01_doubling.IPYNB", "506", "01_doubling.IPYNB"),
        ("turingalan_507_text.html", "507", "text.html"),
        ("turingalan_LATE_507_link.html", "507", "link.html"),
        ("turingalan_508_9008_text.html", "508", "text.html"),
        ("anon_Ab3xY_9006_01_doubling.ipynb", "anon_Ab3xY", "01_doubling.ipynb"),
        ("LATE_anon_Ab3xY_9007_01_doubling.ipynb", "anon_Ab3xY", "01_doubling.ipynb"),
        ("anon_Ab3xY_text.html", "anon_Ab3xY", "text.html"),
    ],
)
def test_names_from_canvas_are_understood(tmp_path: Path, name: str, student: str, file: str) -> None:
    """User and file come out of each name as Canvas builds it, and are those that nbgrader's collector finds."""
    (hand_in,) = found(tmp_path, "canvas", {name: "x"}).hand_ins
    assert files_of([hand_in]) == {student: [file]}
    assert ("Late, says Canvas." in hand_in.notes) == ("_late_" in f"_{name.lower()}")
    assert any("anonymously" in note for note in hand_in.notes) == student.startswith("anon")
    nbgraders = FileNameCollectorPlugin(config=Config(FileNameCollectorPlugin={"named_regexp": NBGRADERS}))
    if (theirs := nbgraders.collect(f"/zip/{name}")) is not None:
        assert (theirs["student_id"], theirs["file_id"]) == (student, file)
    else:
        assert student.startswith("anon") or not name.endswith("ipynb")


def test_nbgraders_own_collector_collects_the_same(course: Path, tmp_path: Path) -> None:
    """Of a download that nbgrader can take, `nbgrader zip_collect` puts the same notebooks into the same folders."""
    download = zipped({f"{who}_{NAME}": f"{{}} {who}" for who in ("a_501_9001", "b_502_9002", "c_LATE_503_9003")})
    assert collect("canvas", download) == 0
    ours = {path: data for path, (data, _) in snapshot(course / "submitted").items() if path.endswith("ipynb")}
    archive = course / "downloaded" / LESSON / "archive"
    archive.mkdir(parents=True)
    (archive / "submissions.zip").write_bytes(download)
    shutil.rmtree(course / "submitted")
    config = Config(FileNameCollectorPlugin={"named_regexp": NBGRADERS})
    app = ZipCollectApp(config=config)
    app.coursedir = CourseDirectory(root=str(course), assignment_id=LESSON, release_directory="notebooks")
    app.init_plugins()
    app.extract_archive_files()
    app.process_extracted_files()
    theirs = {path: data for path, (data, _) in snapshot(course / "submitted").items() if path.endswith("ipynb")}
    assert ours == theirs and len(ours) == 3


def test_canvas_knows_its_people_by_its_gradebook(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers become the students of the gradebook; names and e-mails get there; who is missing is said, by name."""
    with open_gradebook(course) as gradebook:
        gradebook.add_student("s-ada")
        gradebook.add_student("ines", lms_user_id="902", first_name="Agnes")
    data = notebook(course)
    names = ["lovelaceada_901_1_hw.ipynb", "núñezinés_902_2_hw.ipynb", "hoppergrace_904_3_hw.ipynb", "x_777_4_hw.ipynb"]
    assert collect("canvas", zipped({name: data for name in names}), "--people", CANVAS) == 0
    for student in ("s-ada", "ines", "904", "777"):
        assert submitted(course, student) == {NAME: data}
    with open_gradebook(course) as gradebook:
        people = {one.id: (one.first_name, one.last_name, one.email, one.lms_user_id) for one in gradebook.students}
    assert people["s-ada"] == ("Ada", "Lovelace", "ada@example.org", "901")
    assert people["ines"] == ("Agnes", "Núñez", None, "902"), "what somebody entered stays"
    assert people["904"] == ("Grace", "Hopper", None, "904")
    assert set(people) == {"s-ada", "ines", "903", "904", "905"}, "no test student, and no row of points"
    said = capsys.readouterr().out
    assert "Not in the gradebook before, and collected all the same:\n  777 (x)\n" in said
    assert "Handed in nothing (2): 903 (Bob =Evil), 905 (Jane Nobody)." in said
    assert "✓ 01_doubling: 4 new, 0 replaced, 0 unchanged." in said


def test_a_number_of_another_kind_is_nobodys(tmp_path: Path) -> None:
    """Whose id is by chance somebody else's number in Canvas does not get their hand-in."""
    people = People.of({"901": Student("901", lms_id="555"), "eve": Student("eve", lms_id="901")})
    assert files_of(found(tmp_path, "canvas", {"a_901_1_a.ipynb": "x"}, people).hand_ins) == {"eve": ["a.ipynb"]}
    del people.students["eve"]
    ((hand_in),) = found(tmp_path, "canvas", {"a_901_1_a.ipynb": "x"}, people).hand_ins
    assert hand_in.student == "canvas 901"


@pytest.mark.parametrize("end", ["", "_"], ids=["Moodle 4", "Moodle 3"])
def test_names_from_moodle_are_understood(tmp_path: Path, end: str) -> None:
    """Folders, single files and texts go to whom the worksheet names, with its time; all others stay apart."""
    result = found(
        tmp_path,
        "moodle",
        {
            f"Ada Lovelace_5501_assignsubmission_file{end}/01_doubling.ipynb": "a",
            f"Ada Lovelace_5501_assignsubmission_file{end}/src/helper.py": "a",
            f"Ada Lovelace_5501_assignsubmission_onlinetext{end}/onlinetext.html": "a",
            "Inés Núñez_5502_assignsubmission_file_01_doubling (1).ipynb": "i",
            "Inés Núñez_5502_assignsubmission_onlinetext_onlinetext.html": "i",
            f"Ada Smith_5501_assignsubmission_file{end}/hw.ipynb": "s",
            f"Team 7_5503_assignsubmission_file{end}/hw.ipynb": "t",
            f"Zoe Newman_5599_assignsubmission_file{end}/hw.ipynb": "z",
            "readme.txt": "",
        },
    )
    assert files_of(result.hand_ins) == {
        "ada@example.org": ["01_doubling.ipynb", "src/helper.py", "onlinetext.html"],
        "ines@example.org": ["01_doubling (1).ipynb", "onlinetext.html"],
        "Ada Smith 5501": ["hw.ipynb"],
        "Team 7 5503": ["hw.ipynb"],
        "Zoe Newman 5599": ["hw.ipynb"],
    }
    assert result.nobodys == ["readme.txt"]
    ada, ines, smith, team, zoe = result.hand_ins
    assert (str(ada.time), str(ines.time)) == ("2026-03-02 09:14:00+00:00", "2026-03-02 10:02:00+00:00")
    assert "has the number 5503 as =Bob Evil" in team.notes[0] and "has no number 5599" in zoe.notes[0]
    assert team.time is smith.time is None


def test_signs_that_moodle_leaves_out_of_names_do_not_matter() -> None:
    """An apostrophe, a name of an account in front and another order are the same person; one word in common is not."""
    theirs = platforms._WorksheetRow("1", "Pat O'Brien", "pat", None)
    assert all(map(theirs.may_be, ("Pat OBrien", "pat7 Pat O'Brien", "O'Brien Pat")))
    assert not any(map(theirs.may_be, ("Pat Smith", "Participant", "Alan Turing")))
    assert platforms._WorksheetRow("1", "Sara O'Sara", "sara", None).may_be("Sara OSara"), "a word that comes twice"


def test_moodles_hand_ins_have_times_and_its_people_names(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The time stands in timestamp.txt, in UTC; the worksheet is the class list, and its names are in the gradebook."""
    with open_gradebook(course) as gradebook:
        gradebook.add_student("i.nunez", email="ines@example.org")
    files = {"Inés Núñez_5502_assignsubmission_file/x.ipynb": notebook(course)}
    assert collect("moodle", zipped(files), "--worksheet", MOODLE) == 0
    assert submitted(course, "i.nunez") == {NAME: notebook(course), "timestamp.txt": b"2026-03-02T10:02:00+00:00\n"}
    with open_gradebook(course) as gradebook:
        assert gradebook.find_student("ada@example.org").last_name == "Lovelace"
        assert gradebook.find_student("i.nunez").first_name == "Inés"
        assert len(gradebook.students) == 4
    said = capsys.readouterr().out
    assert "Handed in nothing (3): ada@example.org (Ada Lovelace), bob@example.org (=Bob Evil), jane@" in said
    assert "Not in the gradebook before" not in said


def test_gradescope_says_who_and_when(course: Path, tmp_path: Path) -> None:
    """Each submitter gets the files of their folder; a group, and a folder without name or files, are noted."""
    people = People.of({"ada": Student("ada", email="ada@example.org"), "bob": Student("bob", lms_id="903")})
    root = "assignment_42_export"
    result = found(
        tmp_path,
        "gradescope",
        {
            f"{root}/submission_metadata.yml": GRADESCOPE.read_text(encoding="utf-8"),
            f"{root}/submission_7001/hw.ipynb": "new",
            f"{root}/submission_7001/src/helper.py": "new",
            f"{root}/submission_7002/hw.ipynb": "group",
            f"{root}/submission_7003/hw.ipynb": "old",
            f"{root}/submission_7004/hw.ipynb": "?",
            f"{root}/submission_7099/hw.ipynb": "??",
            f"{root}/notes.txt": "",
            "elsewhere.txt": "",
        },
        people,
    )
    by_student = {(one.student, one.who): one for one in result.hand_ins if one.student != "ada"}
    assert set(by_student) == {
        ("ines@example.org", "Inés Núñez"),
        ("bob", "Bob Evil"),
        ("submission_7004", "submission_7004"),
        ("grace@example.org", "Grace Hopper"),
        ("submission_7099", "submission_7099"),
    }
    first, second = (one for one in result.hand_ins if one.student == "ada")
    assert str(first.time) == "2026-03-02 09:14:22.349105+00:00" and first.order > second.order
    assert [str(file.path) for file in first.files] == ["hw.ipynb", "src/helper.py"]
    assert by_student["bob", "Bob Evil"].notes == ("Handed in by a group of 2.",)
    assert "cannot be read: “yesterday”" in by_student["submission_7004", "submission_7004"].notes[0]
    assert by_student["grace@example.org", "Grace Hopper"].notes == ("The download has no files in submission_7005.",)
    assert sorted(result.nobodys) == [f"{root}/notes.txt", "elsewhere.txt"]
    assert people.students["ines@example.org"] == Student("ines@example.org", "Inés", "Núñez", "ines@example.org")
    assert people.students["bob"].email == "bob@example.org" and not people.students["ada"].lms_id


def test_gradescopes_newest_counts(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two submissions of one student the later one is taken, and that there are two is said."""
    files = {"submission_7001/a.ipynb": notebook(course), "submission_7003/a.ipynb": b"older"}
    assert collect("gradescope", zipped({GRADESCOPE.name: GRADESCOPE.read_bytes(), **files})) == 0
    assert submitted(course, "ada@example.org")[NAME] == notebook(course)
    assert "ada@example.org (Ada Lovelace): handed in several times; the newest is taken." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("yaml", "says"),
    [
        (None, "holds no submission_metadata.yml"),
        ("[", "cannot be read"),
        ("- a\n- b", "lists no submissions"),
        ("a: !!python/object/apply:os.system ['touch ran']", "cannot be read"),
    ],
)
def test_gradescopes_list_is_only_data(
    course: Path, capsys: pytest.CaptureFixture[str], yaml: str | None, says: str
) -> None:
    """A list that is missing, broken or hostile is refused, and nothing in it runs."""
    assert collect("gradescope", zipped({"x.txt": "", **({GRADESCOPE.name: yaml} if yaml else {})})) == 2
    assert says in capsys.readouterr().err
    assert not (course / "ran").exists() and not (course / "submitted").exists()


@pytest.mark.parametrize(
    "names",
    [
        ["ada/01_doubling.ipynb", "bob/hw.ipynb"],
        ["class/ada/01_doubling.ipynb", "class/bob/hw.ipynb"],
        ["ada_01_doubling.ipynb", "bob-01_doubling (1).ipynb"],
        ["class/ada.ipynb", "class/bob.ipynb"],
        ["submitted/ada/01_doubling/01_doubling.ipynb", "submitted/bob/01_doubling/hw.ipynb"],
        ["ADA/hw.ipynb", "bob@example.org/hw.ipynb"],
    ],
)
def test_folders_and_names_say_whose_it_is(tmp_path: Path, names: list[str]) -> None:
    """A folder for each student, alone or in another, nbgrader's own layout, and files that name the student."""
    people = People.of({"ada": Student("ada"), "bob": Student("bob", email="Bob@example.org")})
    assert set(files_of(found(tmp_path, "folder", dict.fromkeys(names, "x"), people).hand_ins)) == {"ada", "bob"}


@pytest.mark.parametrize(
    ("names", "owners", "nobodys"),
    [
        (["ada_01_doubling.ipynb"], {"ada": ["ada_01_doubling.ipynb"]}, []),
        (["eve/a.ipynb", "eve/src/b.py"], {"eve": ["a.ipynb", "src/b.py"]}, []),
        (["eve/01_doubling/a.ipynb", "eve/02_halving/b.ipynb", "list.txt"], {"eve": ["a.ipynb"]}, ["list.txt"]),
        (
            ["01_doubling/01_doubling.ipynb", "eve/a.ipynb"],
            {"eve": ["a.ipynb"]},
            ["01_doubling/01_doubling.ipynb, where 01_doubling is a lesson and no student"],
        ),
    ],
    ids=["one file", "one folder", "folders of other lessons", "a folder named like a lesson"],
)
def test_only_the_lesson_is_taken_of_a_folder(
    tmp_path: Path, names: list[str], owners: dict[str, list[str]], nobodys: list[str]
) -> None:
    """Other lessons' files stay where they are, and what is nobody's is named; a single file or folder has an owner."""
    result = found(tmp_path, "folder", dict.fromkeys(names, ""), People.of({"ada": Student("ada")}))
    assert files_of(result.hand_ins) == owners and result.nobodys == nobodys


@pytest.mark.parametrize(
    ("told", "made"),
    [
        ("ada", "ada"),
        ("ada@example.org", "ada@example.org"),
        ("Zoë Ångström", "Zoë Ångström"),
        ("../../etc", r".. .. etc \w{6}|_\._\.\._etc \w{6}"),
        (".hidden", r"_hidden \w{6}"),
        ("a/b", r"a_b \w{6}"),
        ("a\x1b[2J", r"a_\[2J \w{6}"),
        ("", r"unknown \w{6}"),
        ("n" * 300, r"n{90} \w{6}"),
    ],
)
def test_an_id_is_a_folders_name(told: str, made: str) -> None:
    """What can be a folder's name stays; all else becomes one, the same way each time, and no two become the same."""
    made_id = safe_id(told)
    assert re.fullmatch(made, made_id) and made_id == safe_id(told)
    assert Path(made_id).name == made_id and not made_id.startswith(".") and len(made_id) <= 128
    assert safe_id("a/b") != safe_id("a?b") != "a_b"


@pytest.mark.parametrize("form", ["canvas", "folder"])
def test_a_download_of_another_platform_is_refused(course: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    """Where no name is one of the platform's, nothing is collected, and what the names should be is said."""
    assert collect(form, zipped({"a.txt": "", "b.txt": ""})) == 2
    assert "has no names like" in capsys.readouterr().err and not (course / "submitted").exists()


def test_lists_of_people(tmp_path: Path) -> None:
    """nbgrader's columns, e-mails alone and Canvas' gradebook are lists; e-mails find students; others are none."""
    people = People.of({"ada": Student("ada", email="ada@example.org", last_name="L.")})
    table = tmp_path / "list.csv"
    table.write_text("Email;First name;Last name\nADA@example.org;Ada;Lovelace\nnew@example.org;N;E\n;;\n")
    assert people.read(table) == ["ada", "new@example.org"]
    assert people.students["ada"] == Student("ada", "Ada", "L.", "ada@example.org")
    table.write_text("id,first_name,last_name,email,lms_user_id\nbob,Bob,Evil,,903\n../x,,,,\n")
    assert people.read(table)[0] == "bob" and people.students["bob"].lms_id == "903"
    assert people.listed == {"ada", "new@example.org", "bob", safe_id("../x")}
    table.write_text("Student;Points\nAda;4\n")
    with pytest.raises(CourseError, match="is no list of people: its columns are Student, Points"):
        people.read(table)


def test_the_gradebook_is_needed_and_its_lock_respected(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While something else writes to the gradebook nothing is collected; without one, release is asked for."""
    from autograder.grading.gradebook.database import Gradebook

    with Gradebook(db_url(course), course).writing():
        assert collect("folder", zipped({"ada/hw.ipynb": "x"})) == 2
    assert "Another `autograder` command" in capsys.readouterr().err
    (course / "gradebook.db").unlink()
    assert collect("folder", zipped({"ada/hw.ipynb": "x"})) == 2
    assert "Run `autograder release`" in capsys.readouterr().err and not (course / "submitted").exists()

"""On a JupyterHub, a lesson goes from the instructor's account to a student's and back, as docs/guide.md says."""

import json
import re
from collections.abc import Iterator

import pytest
from nbformat import NotebookNode
from support.guide import SCRIPTS, SHELL, block
from support.hub import Browser, Hub, jupyter_hub
from support.sample_lesson import ROOT, cell

from autograder.course.config import CONFIG, read_notebook
from autograder.course.lesson import Lesson
from autograder.demo import sample_class
from autograder.demo.students import answer

LESSON, COURSE = "00_orientation", "transformer"
NOTEBOOK = f"{LESSON}/{LESSON}.ipynb"
EXERCISES = Lesson(LESSON, read_notebook(ROOT / "solutions" / NOTEBOOK)).exercises
FIRST = EXERCISES[0]
EXCHANGE = "/srv/nbgrader/exchange"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """The hub of a machine with an instructor, who has the course, and a student, set up as the guide says."""
    machine = tmp_path_factory.mktemp("machine")
    (machine / "home" / "student").mkdir(parents=True)
    course = machine / "home" / "instructor" / "course"
    sample_class.make_course(ROOT, course, [LESSON])
    with (course / CONFIG).open("a", encoding="utf-8") as config:
        config.write(next(code for code in SCRIPTS if code.startswith("c.Exchange.root")))
    (machine / "etc" / "jupyter").mkdir(parents=True)
    (machine / "etc" / "jupyter" / CONFIG).write_text(block("get_config()"), encoding="utf-8")
    (machine / "prepare").write_text(block(EXCHANGE, of=SHELL).removeprefix("sudo "), encoding="utf-8")
    with jupyter_hub(machine) as hub:
        yield hub


@pytest.fixture(scope="module")
def instructor(hub: Hub) -> Browser:
    """The instructor, signed in."""
    return hub.sign_in("instructor")


@pytest.fixture(scope="module")
def student(hub: Hub) -> Browser:
    """The student, signed in."""
    return hub.sign_in("student")


def in_course(instructor: Browser, command: str) -> str:
    """What a command shows in a terminal of the instructor's, in the course; it has to succeed."""
    code, shown = instructor.terminal(command, "course")
    assert code == 0, shown
    return shown


def listed(student: Browser, action: str) -> dict:
    """Press a button of the student's Assignment List; return what it then says of the lesson."""
    lesson = {"course_id": COURSE, "assignment_id": LESSON}
    said = student.ask("POST", f"assignments/{action}", data=lesson)
    assert said["success"], said
    return next(each for each in said["value"] if each["assignment_id"] == LESSON)


@pytest.fixture(scope="module")
def fetched(instructor: Browser, student: Browser) -> NotebookNode:
    """The lesson as the student opens it, released by the instructor and fetched from the list."""
    in_course(instructor, f"nbgrader release_assignment {LESSON}")
    assert listed(student, "fetch")["status"] == "fetched"
    return student.ask("GET", f"api/contents/{NOTEBOOK}")["content"]


def test_everybody_has_a_server_of_their_own(instructor: Browser, student: Browser) -> None:
    """Each server runs as the account that signed in, and lets nobody else in; no more does a home."""
    code, processes = student.terminal("ps -ewwo user:20=,args=")
    servers = [line.split()[0] for line in processes.splitlines() if "/jupyterhub-singleuser" in line]
    assert code == 0 and sorted(servers) == ["instructor", "student"]
    for one, other in ((student, instructor), (instructor, student)):
        assert one.look_into(other.account).status_code == 403
        code, shown = one.terminal(f"ls /home/{other.account}")
        assert code != 0 and "Permission denied" in shown


def test_a_check_speaks_in_the_students_kernel(student: Browser, fetched: NotebookNode) -> None:
    """What the student fetched runs under their account: the first check says ✗, and ✓ once it is answered."""
    sources = {each["id"]: each["source"] for each in fetched["cells"]}
    with student.kernel(LESSON) as kernel:
        assert "Ready: PyTorch" in kernel.run(sources["setup"])
        kernel.run(sources[FIRST.name])
        assert "✗" in kernel.run(sources[FIRST.checks[0].id])
        kernel.run(answer(FIRST.answer.source))
        checked = kernel.run(sources[FIRST.checks[0].id])
        assert "✓" in checked and "✗" not in checked
        assert kernel.run("import getpass; print(getpass.getuser())") == "student\n"


def test_a_lesson_goes_round(instructor: Browser, student: Browser, fetched: NotebookNode) -> None:
    """The student hands in, the instructor collects, grades and hands back: points, page and owners are right."""
    cell(fetched, FIRST.name)["source"] = answer(FIRST.answer.source)
    student.ask("PUT", f"api/contents/{NOTEBOOK}", json={"type": "notebook", "format": "json", "content": fetched})
    assert listed(student, "submit")["status"] == "fetched"

    in_course(instructor, f"nbgrader collect {LESSON}")
    in_course(instructor, "autograder grade --json > graded.json")
    (graded,) = json.loads(instructor.ask("GET", "api/contents/course/graded.json")["content"])["graded"]
    assert graded["student"] == "student" and graded["counts"]["points"] == FIRST.points
    assert not graded["unenforced"]

    in_course(instructor, f"nbgrader generate_feedback {LESSON}")
    in_course(instructor, f"nbgrader release_feedback {LESSON}")
    listed(student, "fetch_feedback")
    (handed_in,) = student.ask("GET", f"api/contents/{LESSON}/feedback")["content"]
    (page,) = student.ask("GET", f"api/contents/{handed_in['path']}")["content"]
    points = sum(exercise.points for exercise in EXERCISES)
    shown = student.ask("GET", f"api/contents/{page['path']}?format=text")["content"]
    assert f"(Score: {FIRST.points:.1f} / {points:.1f})" in shown
    assert owner(student, page["path"]) == "student"
    assert owner(instructor, f"course/submitted/student/{NOTEBOOK}") == "instructor"


def owner(browser: Browser, path: str) -> str:
    """Whose a file is, below somebody's home."""
    code, shown = browser.terminal(f"stat --format='owner: %U.' '{path}'")
    assert code == 0, shown
    return re.search(r"owner: (\w+)\.", shown)[1]


@pytest.mark.parametrize(
    "attempt",
    [
        f"ls {EXCHANGE}/{COURSE}/inbound",
        f"ls {EXCHANGE}/{COURSE}/feedback",
        f"touch {EXCHANGE}/{COURSE}/outbound/{NOTEBOOK}",
        f"mv {EXCHANGE}/{COURSE} {EXCHANGE}/gone",
    ],
)
def test_the_exchange_keeps_what_is_others(student: Browser, fetched: NotebookNode, attempt: str) -> None:
    """A student sees neither who handed in nor others' pages there, and changes nothing of the course."""
    code, shown = student.terminal(attempt)
    assert code != 0 and re.search("Permission denied|not permitted", shown)

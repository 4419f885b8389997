"""What an assistant at a learner's side reads helps with every exercise, and gives none away."""

import json
from pathlib import Path

import pytest
from support.classroom import LESSONS, ROOT
from support.gradebook import configure
from support.sample_lesson import make_course

from autograder.course.config import CourseError, read_notebook
from autograder.course.lesson import Lesson
from autograder.course.release import release
from autograder.stub import regions

TEXT = (ROOT / "notebooks" / "AGENTS.md").read_text(encoding="utf-8")
SHORT = 12  # letters: what any text may hold
SETTINGS, CONTAINER = ".vscode/settings.json", ".devcontainer/devcontainer.json"
OFF = {"chat.disableAIFeatures": True}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course that was never released, with a container for VS Code."""
    course = make_course(tmp_path / "course")
    (course / ".devcontainer").mkdir()
    (course / CONTAINER).write_text('{"image": "python:3.12"}')
    return course


def assisted(course: Path, kind: str) -> list[str]:
    """Release a course with assistants of a kind, and return what is in notebooks/ for them."""
    configure(course, f'c.Autograder.assistants = "{kind}"')
    release(course, register=False)
    return sorted(path.name for path in (course / "notebooks").glob("*.md"))


@pytest.mark.parametrize("lesson", LESSONS)
def test_it_names_every_exercise_and_holds_no_answer(lesson: str) -> None:
    """No line of a solution or of a hidden test stands there; the call of each answer does."""
    source = Lesson(lesson, read_notebook(ROOT / "solutions" / lesson / f"{lesson}.ipynb"))
    secret = [
        line.strip()
        for cell in source.cells
        for kind in ("SOLUTION", "HIDDEN TESTS")
        for region in regions(cell.source, kind) or []
        for line in region
        if len(line.strip()) > SHORT
    ]
    assert len(secret) > 20 and [line for line in secret if line in TEXT] == []
    for exercise in source.exercises:
        assert f"{exercise.number} **{exercise.title}**, `{exercise.name}(" in TEXT
        assert all(hint.title in TEXT for hint in exercise.hints)


def test_a_mistake_is_asked_about() -> None:
    """What checks name as mistakes, and nothing else in them, becomes a question."""
    assert "Is it that the heads still stand after the sequence?" in TEXT
    assert "three rows are wrong" not in TEXT, "a case of 7.3, no mistake"


def test_off_is_said_to_assistants_and_to_editors(course: Path) -> None:
    """The switches of VS Code are set where a course is worked through without, and taken back with the rule."""
    assert assisted(course, "off") == ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]
    assert "Exercise" not in (course / "notebooks" / "AGENTS.md").read_text(encoding="utf-8")
    assert json.loads((course / SETTINGS).read_text()) == OFF
    (course / SETTINGS).write_text(json.dumps({"editor.tabSize": 4} | OFF))
    settings = {"image": "python:3.12", "customizations": {"vscode": {"settings": OFF}}}
    assert json.loads((course / CONTAINER).read_text()) == settings
    assert release(course, register=False) == []

    assert "1.1 **" in (assisted(course, "tutor") and (course / "notebooks" / "AGENTS.md").read_text(encoding="utf-8"))
    assert json.loads((course / SETTINGS).read_text()) == {"editor.tabSize": 4}
    assert "chat" not in (course / CONTAINER).read_text()
    assert assisted(course, "free") == []


def test_what_somebody_wrote_there_stays(course: Path) -> None:
    """A file that is not as release wrote it is refused, as a notebook is."""
    assisted(course, "tutor")
    path = course / "notebooks" / "AGENTS.md"
    path.write_text(path.read_text(encoding="utf-8") + "Be kind.\n", encoding="utf-8")
    configure(course, 'c.Autograder.assistants = "off"')
    with pytest.raises(CourseError, match=r"notebooks/AGENTS\.md is not as release wrote it"):
        release(course, register=False)


def test_settings_that_cannot_be_read_are_named(course: Path) -> None:
    """Comments are no JSON; nothing is written then."""
    (course / CONTAINER).write_text('{"image": "python:3.12"} // the same as everywhere')
    configure(course, 'c.Autograder.assistants = "off"')
    with pytest.raises(CourseError, match=r"Put `chat\.disableAIFeatures: true` into its settings yourself"):
        release(course, register=False)
    assert not (course / "notebooks").exists()


def test_another_word_is_refused(course: Path) -> None:
    """The three that there are stand in the message."""
    configure(course, 'c.Autograder.assistants = "maybe"')
    with pytest.raises(CourseError, match='Make it one of "tutor", "off", "free"'):
        release(course, register=False)

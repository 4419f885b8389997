"""Whatever grading comes to is recorded and read back as it was, or refused with nothing changed."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fuzz.bounds import require_readable
from fuzz.strategies import FEW, LESSON, Entry, anything, dumped, folders, made, outputs, results
from hypothesis import example, given
from hypothesis import strategies as st
from support.gradebook import repaired_notebook

from autograder import files
from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.grading.gradebook.folder import write_folder
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.results import Result
from autograder.grading.rpc.channel import Lost
from autograder.grading.worker.outputs import Allowance, outputs_from


@pytest.fixture(scope="module")
def own_course(small_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course into which the tests of this file record."""
    return Path(shutil.copytree(small_course, tmp_path_factory.mktemp("fuzz") / "course"))


@pytest.fixture(scope="module")
def recorder(own_course: Path) -> Iterator[Recorder]:
    """Its one writer."""
    with Recorder(own_course) as recorder:
        yield recorder


def files_in(course: Path) -> set[Path]:
    """All that lies in autograded/."""
    return set(files.walk(course / "autograded"))


@FEW
@given(results(), st.text("0123456789abcdef", max_size=64), st.lists(outputs(), max_size=3))
@example(Result("🙂" * 64, LESSON, reason="x"), "", [])  # 256 bytes: no name for a folder
@example(Result("\u0301", LESSON, reason="x"), "", [])
def test_any_result_is_recorded_and_read_back(
    own_course: Path, recorder: Recorder, result: Result, digest: str, said: list[Any]
) -> None:
    """The same result comes back, and so from the gradebook; its notebook lies in autograded/ as it was recorded."""
    if not result.reason:
        try:
            shown = outputs_from(dumped(said).encode("utf-8", "replace"), Allowance(2000))
        except Lost:
            shown = []
        result = replace(result, notebook=json.dumps(repaired_notebook(own_course, {"double": shown})))
    before, there = recorder.graded(LESSON), files_in(own_course)
    try:
        recorded = recorder.record(result, digest, submitted=None, timestamp=None)
    except CourseError as error:
        assert str(error).isprintable() and len(str(error)) < 2000
        assert recorder.graded(LESSON) == before and files_in(own_course) == there
        return
    found = recorder.graded(LESSON)
    assert found.keys() == before.keys() | {result.student}
    assert found[result.student].digest == digest
    assert found[result.student].result == replace(recorded, notebook="") == replace(result, notebook="")
    read = read_gradebook(own_course).graded[result.student, LESSON]
    assert read.result == found[result.student].result and read.score == result.score * (not result.reason)
    path = own_course / "autograded" / result.student / LESSON / f"{LESSON}.ipynb"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == read.notebook_sha256
    assert json.loads(path.read_bytes())["cells"]


@given(results())
def test_any_result_crosses_as_json(result: Result) -> None:
    """What a cluster or a database keeps of it is all of it."""
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


@given(st.one_of(anything, results().map(lambda result: result.to_json() | {"checks": [{}]})))
def test_what_is_no_result_is_said_to_be_none(value: Any) -> None:
    """Rows of another version raise `ValueError`, which readers expect, and nothing else."""
    try:
        parsed = json.loads(dumped(value))
    except ValueError:
        return
    with pytest.raises(ValueError, match="of this version"):
        Result.from_json(parsed)


@FEW
@given(folders)
@example({b"link": Entry("link", b"x" * 300), b"pipe": Entry("pipe"), b"socket": Entry("socket")})
@example({b"a": Entry("deep", (Entry("file", b""), b"d", 19))})  # as deep as `walk` goes, and kept one folder deeper
def test_any_files_are_kept_beside_a_notebook_or_named(own_course: Path, content: dict[bytes, Entry]) -> None:
    """What else was handed in is copied where it is a file, left out where it is not; nothing of it is followed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        submitted, folder = made(Path(place) / "submitted", content), Path(place) / "graded" / "ada" / LESSON
        left_out = write_folder(folder, {LESSON: b"{}"}, submitted, Course.at(own_course), 0o644)
        if left_out:
            require_readable(left_out)
        assert (folder / f"{LESSON}.ipynb").read_bytes() == b"{}"
        for path in folder.rglob("*"):
            assert (path.is_file() or path.is_dir()) and not path.is_symlink()
        assert [path.name for path in folder.parent.iterdir()] == [LESSON]
        files.remove(Path(place) / "submitted")
        files.remove(Path(place) / "graded")

"""Whatever lies in submitted/ is read, or has a reason, soon."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.bounds import require_readable, soon
from fuzz.strategies import Entry, files, folders, made
from hypothesis import example, given
from hypothesis import strategies as st
from support.sample_lesson import sample_lesson

from autograder import files as file_system
from autograder.course.paths import handed_in
from autograder.grading.jobs import read_job
from autograder.grading.results import Limits
from autograder.grading.submission.reader import KINDS, NotGradable, bytes_of, cells_of, find
from autograder.grading.submission.requests import LONGEST, requests_in, same_but_requests

LESSON = "01_doubling"


@contextmanager
def submission(content: dict[bytes, Entry]) -> Iterator[Path]:
    """A folder somewhere, removed as the project removes one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = made(Path(place) / "ada" / LESSON, content)
        yield folder
        file_system.remove(folder)
        assert not folder.exists()


@given(files())
def test_any_bytes_are_cells_or_have_a_reason(raw: bytes) -> None:
    """Nothing but `NotGradable` is raised; every cell is of a kind that there is, and its source can be kept."""
    with soon():
        try:
            cells = cells_of(raw)
        except NotGradable as error:
            require_readable(str(error))
            return
    for cell in cells:
        assert cell.kind in KINDS and cell.source.encode("utf-8") is not None and "\r" not in cell.source
        assert isinstance(cell.grade_id, str) and isinstance(cell.id, str)


@given(files(), st.text())
def test_any_bytes_ask_for_something_or_nothing(raw: bytes, words: str) -> None:
    """Whatever a cell begins with, a request is a line that can be shown, of one exercise that there is."""
    asking = json.dumps({"cells": [{"cell_type": "markdown", "source": f"Regrade 1.1{words}"}]}).encode()
    for notebook in (raw, asking, raw + b"Regrade"):
        with soon():
            requests, notes = requests_in(notebook, json.dumps(sample_lesson()).encode())
            assert not (same_but_requests(notebook, notebook) and not requests and not notes)
        assert requests.keys() <= {"double"}
        assert all(text.isprintable() and len(text) <= LONGEST + 50 for text in (*requests.values(), *notes))


PIECES = [b"[", b"{", b'{"a":', b'"', b"\\", b"-", b"1", b"1e", b" ", b"\n", b"\xff", b"[1,", b'{"cells":[{"source":[']


@given(st.sampled_from(PIECES))
def test_long_bytes_take_no_longer_than_their_length(piece: bytes) -> None:
    """Half a megabyte of anything is read at once."""
    with soon():
        try:
            cells_of(piece * (2**19 // len(piece)))
        except NotGradable as error:
            require_readable(str(error))


@given(folders)
@example({b"\x1b[2J\xe9.ipynb": Entry("link", b"/etc/passwd")})  # stood in the reason as it is, its whole path
@example({b"link": Entry("link", b"x" * 300)})  # could not be asked whether it is a folder, and was never removed
def test_any_folder_is_a_notebook_or_has_a_reason(content: dict[bytes, Entry]) -> None:
    """A notebook that is found is a file within the folder; what is odd about it can be read."""
    with submission(content) as folder, soon():
        try:
            path, odd = find(folder, LESSON)
            data = bytes_of(path)
        except NotGradable as error:
            require_readable(str(error))
            return
        assert path.is_file() and path.resolve().is_relative_to(folder.resolve())
        assert isinstance(data, bytes)
        for note in odd:
            require_readable(note)


@given(folders)
@example({b"timestamp.txt": Entry("pipe")})
def test_any_folder_is_a_job(content: dict[bytes, Entry]) -> None:
    """A submission of any kind can be queued: it has bytes or a reason, and a digest that is the same again."""
    with submission(content) as folder, soon():
        jobs = [read_job(folder, "ada", LESSON, b"{}", Limits(), handed_in(folder)) for _ in range(2)]
        assert jobs[0] == jobs[1] and jobs[0].digest == jobs[1].digest
        assert not (jobs[0].reason and jobs[0].submitted)
        if jobs[0].reason:
            require_readable(jobs[0].reason)

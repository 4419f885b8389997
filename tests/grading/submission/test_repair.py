"""Any submission is read and repaired: nothing that happens to a notebook on its way costs a student an answer."""

import json
import os
import time
from pathlib import Path

import nbformat
import pytest
from faults.broken_notebooks import ANSWERS, CHECKS, FAULTS, Fault
from fuzz.strategies import lesson
from nbconvert.filters import markdown2html
from nbformat import NotebookNode
from support.classroom import LESSONS, ROOT
from traitlets.config import Config

from autograder.course.address import Address
from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson, parse_or_none
from autograder.course.lesson import cells_of as lesson_cells
from autograder.course.versions import released
from autograder.demo.students import solved, submission
from autograder.grading.jobs import prepared
from autograder.grading.results import NoteKind
from autograder.grading.submission import repair as repair_module
from autograder.grading.submission.dependencies import Names
from autograder.grading.submission.harmless import CUT, MOST_LETTERS, MOST_OF_OWN, harmless, shortened
from autograder.grading.submission.lessons import marks_of, with_name
from autograder.grading.submission.reader import NotGradable, SubmittedCell, bytes_of, cells_in, cells_of, find
from autograder.grading.submission.repair import repair

NAME = "02_multi_head_attention"
SOURCE = read_notebook(ROOT / "solutions" / NAME / f"{NAME}.ipynb")
RELEASED = read_notebook(ROOT / "notebooks" / NAME / f"{NAME}.ipynb")
SOURCES = {lesson: read_notebook(ROOT / "solutions" / lesson / f"{lesson}.ipynb") for lesson in LESSONS}
MARKS = marks_of(ROOT / "solutions" / lesson / f"{lesson}.ipynb" for lesson in LESSONS)
RIGHT = solved(Lesson(NAME, SOURCE).exercises)


def handed_in() -> NotebookNode:
    """A notebook with right answers, as a student would hand it in."""
    return submission(RELEASED, RIGHT)


def broken(fault: Fault) -> bytes:
    """The file of a broken submission."""
    made = fault.breaks(handed_in())
    return made if isinstance(made, bytes) else json.dumps(made).encode("utf-8", "surrogatepass")


def sources(notebook: NotebookNode, *, kind: str) -> dict[str, str]:
    """The sources of the answers, or of the checks, by id."""
    return {cell.id: cell.source for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get(kind)}


def extras(notebook: NotebookNode) -> list[str]:
    """The sources of the cells that the lesson does not have."""
    known = {cell.id for cell in SOURCE.cells}
    return [cell.source for cell in notebook.cells if cell.id not in known]


@pytest.mark.parametrize("fault", [each for each in FAULTS if not each.reason], ids=lambda fault: fault.what)
def test_what_can_be_graded_is_repaired(fault: Fault) -> None:
    """The answers are the student's, the checks the instructor's, in order; what was mended is said, and no more.

    Through nbgrader the judge gets what `Repair` has made, and finds nothing to mend in it.
    """
    repaired = repair(SOURCE, cells_of(broken(fault)))
    nbformat.validate(repaired.notebook)
    assert sources(repaired.notebook, kind="grade") == sources(SOURCE, kind="grade")
    found = sources(repaired.notebook, kind="solution")
    for name in ANSWERS:
        if name in fault.lost:
            assert "raise NotImplementedError" in found[name] and "BEGIN SOLUTION" not in found[name]
        else:
            assert found[name].split() == RIGHT[name].split()
    order = [cell.id for cell in repaired.notebook.cells if cell.id in {each.id for each in SOURCE.cells}]
    assert order == [cell.id for cell in SOURCE.cells]
    missing = [words for words in fault.notes if not any(words in note.text for note in repaired.notes)]
    assert not missing and len(repaired.notes) == len(fault.notes), repaired.notes
    again = repair(SOURCE, cells_in(repaired.notebook))
    assert again.notebook == repaired.notebook
    assert again.notes == ()


def test_notes_name_their_cell() -> None:
    """A note on an answer or a check has its id, one on the notebook none."""
    notebook = handed_in()
    notebook.cells = [cell for cell in notebook.cells if cell.id not in ("merge_heads", CHECKS[0])]
    notes = repair(SOURCE, cells_in(notebook)).notes
    assert {(note.kind, note.cell) for note in notes} == {
        (NoteKind.ANSWER, "merge_heads"),
        (NoteKind.CHECK_DELETED, CHECKS[0]),
    }


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.reason], ids=lambda fault: fault.what)
def test_what_cannot_be_graded_has_a_reason(fault: Fault) -> None:
    """The bytes are told apart, with what is so and what to do."""
    try:
        reason = repair(SOURCE, cells_of(broken(fault))).reason
    except NotGradable as error:
        reason = str(error)
    assert fault.reason in reason
    assert len(reason) < 400 and reason.count(".") >= 2 and "Error" not in reason


def lesson_of(path: Path, *, stripped: bool = False) -> list[SubmittedCell]:
    """The cells of a lesson's notebook, perhaps without ids and marks."""
    cells = cells_of(path.read_bytes())
    return [SubmittedCell(cell.kind, cell.source) for cell in cells] if stripped else cells


OTHER = lesson_of(ROOT / "notebooks" / LESSONS[3] / f"{LESSONS[3]}.ipynb")


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("stripped", [False, True], ids=["with marks", "stripped"])
@pytest.mark.parametrize("folder", ["notebooks", "solutions"])
def test_another_lessons_notebook_is_named(lesson: str, stripped: bool, folder: str) -> None:
    """Handed in for any lesson, solved or not, with marks or not, it is known as its own lesson's."""
    cells = lesson_of(ROOT / folder / lesson / f"{lesson}.ipynb", stripped=stripped)
    for other, source in SOURCES.items():
        reason = with_name(repair(source, cells).reason, other, cells, MARKS)
        expected = f"This is the notebook of lesson {lesson}, and none" if other != lesson else ""
        assert reason.partition(" of this lesson's")[0] == expected, other


@pytest.mark.parametrize(
    ("cells", "is_gradable"),
    [
        ([SubmittedCell("code", "def merge_heads(x): return x")], True),
        ([SubmittedCell("code", "class MultiHeadAttention:\n  (")], True),
        ([SubmittedCell("code", "split_heads = lambda x, num_heads: x")], True),
        ([SubmittedCell("code", "from mine import merge_heads")], True),
        ([SubmittedCell("markdown", "lost", "merge_heads", "merge_heads")], True),
        ([SubmittedCell("code", "assert True", "check_merge_heads_values")], True),
        ([SubmittedCell("code", SOURCE.cells[0].source), SubmittedCell("code", "x = 1")], False),
        ([SubmittedCell("code", 'merge_heads, split_heads = yours.take("merge_heads", "split_heads")')], False),
        ([SubmittedCell("code", "print(merge_heads)")], False),
        ([SubmittedCell("markdown", SOURCE.cells[0].source)], False),
        ([], False),
        (OTHER, False),
        ([*OTHER, SubmittedCell("code", "def merge_heads(x): 1")], True),
    ],
)  # fmt: skip
def test_one_answer_or_check_is_enough_to_be_graded(cells: list[SubmittedCell], is_gradable: bool) -> None:
    """Whatever else is lost or pasted into it, a notebook with an exercise of the lesson is graded, and only that."""
    repaired = repair(SOURCE, cells)
    assert bool(repaired.reason) != is_gradable and (is_gradable or not repaired.notes)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("indent", [None, 1])
def test_wherever_a_notebook_is_cut_off_it_is_said(encoding: str, indent: int | None) -> None:
    """After any byte, in a word, a number, an escape or a letter: the file is to be downloaded again."""
    cell = {"cell_type": "code", "source": "é = '\\\\😀\"'\n", "n": [-1.5e-10, True, None, float("nan")]}
    for ascii_only in (True, False):
        whole = json.dumps({"cells": [cell]}, indent=indent, ensure_ascii=ascii_only).encode(encoding)
        first = 5 if encoding == "utf-16" else 1  # behind the mark of byte order and the first brace
        for end in range(first, len(whole)):
            for zeros in (b"", bytes(512)):
                part = whole[:end] + (zeros if (end - first) % 2 else b"")
                with pytest.raises(NotGradable, match=r"is cut off\. Download it again"):
                    cells_of(part)
        assert cells_of(whole)


def test_cells_of_the_students_own_stay_where_they_were() -> None:
    """A helper above an answer runs before it, a note below a check after it; a given cell that was changed, too."""
    notebook = handed_in()
    ids = [cell.id for cell in notebook.cells]
    own = [nbformat.v4.new_code_cell(source) for source in ("helper = 1", "print('after the check')")]
    notebook.cells.insert(ids.index("check_split_heads_values") + 1, own[1])
    notebook.cells.insert(ids.index("split_heads"), own[0])
    notebook.cells[ids.index("setup")].source += "\nimport numpy as np"
    repaired = repair(SOURCE, cells_of(nbformat.writes(notebook).encode())).notebook
    order = [cell.source if cell.id not in ids else cell.id for cell in repaired.cells]
    assert order.index("helper = 1") == order.index("split_heads") - 1
    assert order.index("print('after the check')") == order.index("check_split_heads_values") + 1
    assert order[order.index("setup") + 1].endswith("import numpy as np")
    assert len(extras(repaired)) == 3


@pytest.mark.parametrize("ids", [True, False], ids=["as released", "without ids"])
def test_an_address_is_no_change(ids: bool) -> None:
    """Where the course was downloaded from, in setup, badge and links, makes no cell one of the student's own."""
    notebook = handed_in()
    Address("https://github.com/you/course", "main").put_into(notebook, NAME)
    if not ids:
        for cell in notebook.cells:
            cell.id, cell.metadata = "", {}
    assert extras(repair(SOURCE, cells_of(json.dumps(notebook).encode())).notebook) == []


def test_a_copied_check_is_not_run_as_a_cell_of_the_students() -> None:
    """Copies of what was given are dropped; a check that was edited does not come back as an extra cell."""
    notebook = handed_in()
    checks = [cell for cell in notebook.cells if cell.id in CHECKS]
    notebook.cells += [nbformat.v4.new_code_cell(cell.source) for cell in checks]
    checks[0].source = "print('mine')"
    assert extras(repair(SOURCE, cells_of(nbformat.writes(notebook).encode())).notebook) == []


def of_the_release_before() -> NotebookNode:
    """The lesson as it was: one check read differently, one has gone since, and one is counted that was not there."""
    lesson = read_notebook(ROOT / "solutions" / NAME / f"{NAME}.ipynb")
    cells = {cell.id: cell for cell in lesson.cells}
    cells[CHECKS[0]].source = 'print("earlier")\n' + cells[CHECKS[0]].source
    cells["exercises"].source += "  # one less"
    gone = cells[CHECKS[1]]
    gone.source = 'print("gone")\n' + gone.source
    gone.metadata.nbgrader.grade_id = gone.id = "check_gone"
    return lesson


@pytest.fixture
def updated(tmp_path: Path) -> Path:
    """The lesson, released after that one."""
    path = tmp_path / "solutions" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(SOURCE), encoding="utf-8")
    listed = path.parents[1] / released.NAME
    for notebook in (of_the_release_before(), SOURCE):
        listed.write_bytes(released.updated(listed.parent, {NAME: notebook}))
    return path


def handed_in_before() -> NotebookNode:
    """That lesson's notebook, solved."""
    given = {cell.id: cell.released for cell in lesson_cells(of_the_release_before()) if not cell.is_answer}
    notebook = handed_in()
    for cell in notebook.cells:
        if cell.id == CHECKS[1]:
            cell.metadata.nbgrader.grade_id = cell.id = "check_gone"
        if cell.id in (CHECKS[0], "check_gone", "exercises"):
            cell.source = given[cell.id] + "  \n"
    return notebook


@pytest.mark.parametrize("ids", [True, False], ids=["as released", "without ids"])
def test_what_an_earlier_release_gave_is_no_change(updated: Path, ids: bool) -> None:
    """Checks that read differently then, are gone or are new need no word; the current ones run, and they alone."""
    notebook = handed_in_before()
    if not ids:
        for cell in notebook.cells:
            if cell.id in (CHECKS[0], "check_gone", "exercises"):
                cell.id, cell.metadata = "", {}
    cells = cells_of(json.dumps(notebook).encode())
    repaired = repair(released.read_source(updated, Config()), cells)
    assert repaired.notes == () and extras(repaired.notebook) == []
    assert sources(repaired.notebook, kind="grade") == sources(SOURCE, kind="grade")
    assert repair(SOURCE, cells).notes != ()


def test_a_change_of_what_an_earlier_release_gave_is_said(updated: Path) -> None:
    """Neither a check of that release that the student edited nor one of this release passes as given."""
    notebook = handed_in_before()
    for cell in notebook.cells:
        if cell.id in CHECKS[:3]:
            cell.source += "\npass"
    notes = repair(released.read_source(updated, Config()), cells_in(notebook)).notes
    assert [note.cell for note in notes] == [CHECKS[0], CHECKS[2]]


def test_what_was_handed_out_travels_with_the_lesson(updated: Path) -> None:
    """A job's source has it, wherever the job runs; the current release alone is no reason to grade anew."""
    cells = cells_in(handed_in_before())
    assert repair(nbformat.from_dict(json.loads(prepared(updated))), cells).notes == ()
    listed = updated.parents[1] / released.NAME
    listed.write_bytes(released.updated(updated.parents[2].with_name("none"), {NAME: SOURCE}))
    current = prepared(updated)
    listed.unlink()
    assert prepared(updated) == current


def test_an_untouched_notebook_runs_as_it_was_given() -> None:
    """Nothing is said; what will be run holds the stubs, no stored output of the instructor's, and no solution."""
    repaired = repair(SOURCE, cells_of(nbformat.writes(RELEASED).encode()))
    assert repaired.notes == ()
    assert all("raise NotImplementedError" in each for each in sources(repaired.notebook, kind="solution").values())
    assert not any(cell.get("outputs") for cell in repaired.notebook.cells)
    assert "BEGIN SOLUTION" not in nbformat.writes(repaired.notebook)


@pytest.mark.parametrize("name", ["02-Multi-Head-Attention.IPYNB", "my homework.ipynb"])
def test_a_notebook_of_another_name_is_found(tmp_path: Path, name: str) -> None:
    """Spelled otherwise, or the only one there is: its name is noted, and nothing else; `broken_files` has more."""
    for each in (name, "notes.txt", "torch.py"):
        (tmp_path / each).write_bytes(b"{}")
    path, notes = find(tmp_path, NAME)
    assert path.name == name and notes == [f"The file is called `{name}`, not `{NAME}.ipynb`."]


def test_a_folder_without_a_notebook_has_a_reason(tmp_path: Path) -> None:
    """Nothing at all, two that could be meant, and other files are told apart; `broken_files` has more of them."""

    def reason(folder: Path) -> str:
        with pytest.raises(NotGradable) as caught:
            find(folder, NAME)
        return str(caught.value)

    assert "Nothing was handed in" in reason(tmp_path / "nobody")
    (tmp_path / "c").mkdir()
    for name in (f"{NAME} (1).ipynb", f"{NAME} (2).ipynb"):
        (tmp_path / "c" / name).write_bytes(b"{}")
    assert "several notebooks" in reason(tmp_path / "c")
    (tmp_path / "d" / "src").mkdir(parents=True)
    for name in ("timestamp.txt", ".DS_Store", "answer.py"):
        (tmp_path / "d" / name).write_bytes(b"x")
    itself = f"Hand in the notebook itself, {NAME}.ipynb."
    assert reason(tmp_path / "d") == f"There is no notebook, only `answer.py`. {itself}"
    for name in ("a.html", "b.zip", "c.pdf"):
        (tmp_path / "d" / "src" / name).write_bytes(b"x")
    assert "only `answer.py`, `a.html`, `b.zip` and more. Hand" in reason(tmp_path / "d")


def test_a_file_that_is_too_large_or_cannot_be_read_has_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beyond the limit is not even opened; one that has vanished is no exception either."""
    path = tmp_path / f"{NAME}.ipynb"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 200 * 2**20)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("it was opened"))
    with pytest.raises(NotGradable, match="200 MB, more than 50"):
        bytes_of(path)
    monkeypatch.undo()
    with pytest.raises(NotGradable, match="cannot be read"):
        bytes_of(tmp_path / "gone.ipynb")


def test_a_cell_full_of_magics_is_no_answer_and_takes_no_time() -> None:
    """IPython gives up on six hundred magics; here they are no Python, as any other error of syntax."""
    begin = time.monotonic()
    assert parse_or_none("\n".join(f"%timeit x{number}" for number in range(600))) is None
    assert parse_or_none("x = !ls\n" * 300) is None
    assert time.monotonic() - begin < 2
    assert parse_or_none("%matplotlib inline\n" * 20 + "x = 1") is not None


def test_a_cell_is_parsed_once_however_many_answers_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all answers have lost their cells, each of the student's is read once, if it names one at all."""
    read = []
    monkeypatch.setattr(repair_module, "names_of", lambda source, given: read.append(source) or Names())
    named = [f"# {' '.join(ANSWERS)}\n{number}" for number in range(3)]
    repair(SOURCE, [SubmittedCell("code", source) for source in (*named, "x = 1")])
    assert sorted(read) == named


@pytest.mark.parametrize(
    "text",
    [
        "a < b, x[1] (2), `list[int]`, \\alpha and $x_{ij}$",
        "- [ ] to do\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    ],
)
def test_markdown_reads_as_it_was_written(text: str) -> None:
    """What could open a tag, a link or a command of MathJax is kept apart by an invisible letter, once."""
    assert harmless(text) == text
    tex = "\\href{d}{e} \\mmlToken{mi}[href='javascript:1']{f}"
    evil = f"<script>{text} [a](javascript:1) [b]: c ${tex}$ </i>\n```mermaid\na --> b\n```"
    assert harmless(evil).replace("\N{WORD JOINER}", "") == evil
    assert harmless(harmless(evil)) == harmless(evil) and "<script" not in harmless(evil)
    assert not any(command in harmless(evil) for command in ("\\href", "\\mmlToken"))


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_an_answer_in_words_is_cut_with_a_word(kind: str) -> None:
    """What a page can take of it is shown; the answer and a note say that there is more. One that fits stays."""
    source = nbformat.from_dict(lesson())
    for text in ("a" * MOST_LETTERS, "a" * (MOST_LETTERS + 1)):
        repaired = repair(source, [SubmittedCell(kind, text, "explain")])
        (shown,) = [cell.source for cell in repaired.notebook.cells if cell.id == "explain"]
        is_cut = len(text) > MOST_LETTERS
        assert len(shown) == MOST_LETTERS and shown.endswith(CUT) is is_cut
        assert any("too long to be shown" in note.text for note in repaired.notes) is is_cut
        again = repair(source, cells_in(repaired.notebook))
        assert again.notebook == repaired.notebook and not again.notes


def test_all_markdown_of_a_students_own_has_an_end() -> None:
    """Cells of it share what a page can take; those without room say so, and a second repair changes nothing."""
    own = [SubmittedCell("markdown", text * MOST_LETTERS, f"own-{place}") for place, text in enumerate("abcdefgh")]
    repaired = repair(SOURCE, [*own, *cells_in(handed_in())])
    texts = extras(repaired.notebook)
    assert len(texts) == len(own) and sum(map(len, texts)) <= MOST_OF_OWN + len(own) * len(CUT)
    assert texts[0] == own[0].source and texts[-1] == CUT
    assert repair(SOURCE, cells_in(repaired.notebook)).notebook == repaired.notebook


@pytest.mark.parametrize("piece", ["\\begin{a}", "\\\\[", "\\\\(", "**a", "# a\n", "[", "<a", "- a\n", "> "])
def test_a_page_of_markdown_is_made_soon(piece: str) -> None:
    """What takes mistune the square of its length is no longer than a second's work."""
    begin = time.process_time()
    markdown2html(shortened(harmless(piece * 10**6), MOST_LETTERS))
    assert time.process_time() - begin < 2

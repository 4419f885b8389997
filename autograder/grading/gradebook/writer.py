"""Record: one result after the other into nbgrader's folders and gradebook, each wholly or not at all.

The folder in autograded/ is made beside its place and renamed into it. Then one transaction writes the scores, row for
row as `nbgrader autograde` would, and the result with the digest of that notebook into a table of our own. A run that
is killed in between leaves a notebook that fits no row, and the next run grades that submission again.

For instructors only. A part of nbgrader cannot be imported without all of it, which takes about a second.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path
from stat import S_ISREG
from types import SimpleNamespace
from typing import Any, Self

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
    new_uuid,
)
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, is_grade, is_locked, is_solution, parse_utc
from sqlalchemy import ColumnElement, delete, func, insert, select
from sqlalchemy.orm import Session, load_only
from traitlets import TraitError

from autograder.course.config import CourseError, load_config, read_notebook
from autograder.grading.gradebook.database import RELEASE, RESULTS, Gradebook, explained
from autograder.grading.results import Note, NoteKind, Result

MOST_FILES = 1000  # that are kept beside a graded notebook


class Recorder:
    """The one writer of a run, to be used in a `with` statement and in one thread.

    Fork no process while it is open: the copy would share its connection and could keep its lock.
    """

    def __init__(self, root: Path, *, db_url: str | None = None) -> None:
        """Read the course's configuration.

        Args:
            root: The course folder.
            db_url: The gradebook, if not the one that nbgrader's configuration names.

        Raises:
            CourseError: The configuration names what cannot be loaded.
        """
        config = load_config(root)
        config.CourseDirectory.setdefault("root", str(root.resolve()))
        self._course = CourseDirectory(config=config)
        self._autograde = Autograde(coursedir=self._course, config=config)
        try:
            self._penalties = AssignLatePenalties(config=config)
            self._penalties.init_plugin()
        except (ImportError, TraitError) as error:
            raise CourseError(
                f"The rule for late hand-ins in nbgrader_config.py cannot be loaded ({error}). Define its class in "
                "that file, as docs/guide.md shows, or install the package that it comes from."
            ) from None
        self._gradebook = Gradebook(db_url or self._course.db_url, Path(self._course.root))

    def __enter__(self) -> Self:
        """Open the gradebook, as the only one who records results in it."""
        self._writing = self._gradebook.writing()
        self._connection = self._writing.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Let others record."""
        self._writing.__exit__(*error)

    def graded(self, lesson: str) -> dict[str, tuple[str, Result]]:
        """Return student → (digest, result without its notebook) of what is recorded for a lesson.

        A result whose notebook is no longer in autograded/ as it was recorded is not among them.

        Raises:
            CourseError: The gradebook does not have the lesson as it is in solutions/.
        """
        ours = (RESULTS.c.student, RESULTS.c.digest, RESULTS.c.result, RESULTS.c.notebook_sha256)
        with self._transaction() as session:
            book = _Lesson.read(session, lesson)
            rows = session.execute(
                select(*ours)
                .join(SubmittedAssignment, SubmittedAssignment.id == RESULTS.c.submission_id)
                .where(RESULTS.c.lesson == lesson)
            ).all()
        path = Path(self._course.format_path(self._course.source_directory, ".", lesson), f"{lesson}.ipynb")
        try:
            source = read_notebook(path)
        except CourseError as error:
            raise CourseError(f"{path}: {error}") from None
        book.require_same(source)
        found = {}
        for student, digest, result, sha256 in rows:
            try:
                if hashlib.sha256(self._notebook(student, lesson).read_bytes()).hexdigest() == sha256:
                    found[student] = digest, Result.from_json(json.loads(result))
            except (OSError, ValueError, TypeError, KeyError):
                continue  # moved away, or written by a version that recorded something else: to be graded again
        return found

    def record(self, result: Result, digest: str, *, submitted: Path | None, timestamp: datetime | None) -> None:
        """Write one result: folder, scores and the result itself, all of it durable on return.

        Args:
            result: With its graded notebook; without one, a page with the reason takes its place.
            digest: What was graded, in the caller's terms; `graded` returns it.
            submitted: The folder of the submission, whose other files nbgrader keeps beside the graded notebook.
            timestamp: When it was handed in; None leaves what the gradebook has.

        Raises:
            CourseError: With nothing in the gradebook changed.
        """
        _check_name(result.student)
        with self._transaction() as session:
            book = _Lesson.read(session, result.lesson)
            notebook = from_dict(json.loads(result.notebook)) if result.notebook else _page(result.reason)
            book.require_fit(result, notebook)
            submission = self._write_scores(session, book, result, notebook, timestamp)
            data = _to_bytes(book.marked(notebook))
            left_out = self._write_folder(result, data, submitted)
            kept = replace(
                result, notebook="", notes=(*result.notes, *(Note(NoteKind.FILES_LEFT_OUT, text) for text in left_out))
            )
            mine = (RESULTS.c.lesson == result.lesson) & (RESULTS.c.student == result.student)
            session.execute(delete(RESULTS).where(mine))
            row = {
                "lesson": result.lesson,
                "student": result.student,
                "submission_id": submission,
                "digest": digest,
                "notebook_sha256": hashlib.sha256(data).hexdigest(),
                "recorded": datetime.now(UTC).replace(tzinfo=None),
                "result": json.dumps(kept.to_json()),
            }
            session.execute(insert(RESULTS).values(row))

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        with explained(self._gradebook.where), Session(self._connection) as session, session.begin():
            yield session

    def _folder(self, student: str, lesson: str) -> Path:
        return Path(self._course.format_path(self._course.autograded_directory, student, lesson))

    def _notebook(self, student: str, lesson: str) -> Path:
        return self._folder(student, lesson) / f"{lesson}.ipynb"

    def _write_scores(
        self, session: Session, book: _Lesson, result: Result, notebook: NotebookNode, timestamp: datetime | None
    ) -> str:
        """Write nbgrader's rows as its Autograde does, and return the id of the submission."""
        submission, submitted = self._find_or_add(session, book, result.student)
        if timestamp is not None:
            submission.timestamp = parse_utc(timestamp)
        columns = (Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.needs_manual_grade)
        of_this = select(Grade).options(load_only(*columns)).where(book.grades_of(submitted))
        grades = {grade.cell_id: grade for grade in session.scalars(of_this.with_for_update())}
        earned = {} if result.reason else {outcome.check: outcome.earned for outcome in result.checks}
        for name, (cell_id, _) in book.checks.items():
            if (grade := grades.get(cell_id)) is None:
                session.add(grade := Grade(cell_id=cell_id, notebook_id=submitted.id))
            grade.auto_score = earned.get(name, 0.0)
            grade.needs_manual_grade = grade.manual_score is not None and not result.reason
        columns = (Comment.cell_id, Comment.auto_comment)
        mine = Comment.cell_id.in_(book.answers.values()) & (Comment.notebook_id == submitted.id)
        of_this = select(Comment).options(load_only(*columns)).where(mine)
        comments = {comment.cell_id: comment for comment in session.scalars(of_this)}
        unanswered = book.unanswered(notebook)
        for name, cell_id in book.answers.items():
            if (comment := comments.get(cell_id)) is None:
                session.add(comment := Comment(cell_id=cell_id, notebook_id=submitted.id))
            comment.auto_comment = "No response." if name in unanswered else None
        session.flush()
        submitted.late_submission_penalty = self._penalty(session, book, submission, submitted)
        session.flush()
        return submission.id

    def _find_or_add(
        self, session: Session, book: _Lesson, student: str
    ) -> tuple[SubmittedAssignment, SubmittedNotebook]:
        """Return a student's submission and the notebook in it; what there is none of is added."""
        of_student = (SubmittedAssignment.assignment_id == book.assignment_id) & (
            SubmittedAssignment.student_id == student
        )
        submission = session.scalar(select(SubmittedAssignment).where(of_student))
        if submission is None:
            if session.scalar(select(Student.id).where(Student.id == student)) is None:
                if not self._autograde.create_student:
                    raise CourseError(
                        f"The gradebook has no student {student}, and {self._course.root}/nbgrader_config.py forbids "
                        f"adding any. Run `nbgrader db student add {student}`, then grade again."
                    )
                session.add(Student(id=student))
                session.flush()
            submission = SubmittedAssignment(id=new_uuid(), assignment_id=book.assignment_id, student_id=student)
            session.add(submission)
        mine = SubmittedNotebook.assignment_id == submission.id
        submitted = session.scalar(select(SubmittedNotebook).where(mine, SubmittedNotebook.notebook_id == book.id))
        if submitted is None:
            submitted = SubmittedNotebook(id=new_uuid(), notebook_id=book.id, assignment_id=submission.id)
            session.add(submitted)
            session.flush()
        return submission, submitted

    def _penalty(
        self, session: Session, book: _Lesson, submission: SubmittedAssignment, submitted: SubmittedNotebook
    ) -> float | None:
        """What nbgrader's plugin takes off for being late."""
        if submission.timestamp is None or book.duedate is None:
            return None
        late = submission.timestamp - (book.duedate + (submission.extension or timedelta()))
        if late <= timedelta():
            return None
        score = session.scalar(select(func.sum(Grade.score)).where(book.grades_of(submitted))) or 0.0
        plugin = self._penalties.plugin_inst
        penalty = plugin.late_submission_penalty(submission.student_id, score, late.total_seconds())
        return None if penalty is None else self._penalties._check_late_penalty(SimpleNamespace(score=score), penalty)

    def _write_folder(self, result: Result, notebook: bytes, submitted: Path | None) -> list[str]:
        """Put a folder in place of the one in autograded/ and return a note on what was left out of it."""
        folder, mode = self._folder(result.student, result.lesson), int(str(self._autograde.permissions), 8)
        fresh, old = (folder.with_name(f".{folder.name}.{state}") for state in ("unfinished", "replaced"))
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            fresh.mkdir(parents=True)
            notes = _copy_others(submitted, fresh, self._course, mode) if submitted else []
            with _durable(fresh / f"{result.lesson}.ipynb", mode) as file:
                file.write(notebook)
            _sync(fresh)
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        _sync(folder.parent)
        _sync(folder.parent.parent)
        shutil.rmtree(old, ignore_errors=True)
        if self._course.groupshared:
            self._autograde.set_permissions(result.lesson, result.student)
        return notes


@dataclass(frozen=True)
class _Lesson:
    """A lesson as the gradebook has it.

    Attributes:
        id: of its notebook.
        checks: name → (id of the grade cell, points).
        answers: name → id of the solution cell.
        sources: name → (checksum as released, whether it is locked).
    """

    name: str
    id: str
    assignment_id: str
    duedate: datetime | None
    kernelspec: dict[str, Any]
    checks: dict[str, tuple[str, float]]
    answers: dict[str, str]
    sources: dict[str, tuple[str, bool]]

    @classmethod
    def read(cls, session: Session, name: str) -> _Lesson:
        """Read a lesson in three queries, however many students there are."""
        columns = (Assignment.id, Assignment.duedate, Notebook.id, Notebook.name, Notebook.kernelspec)
        joined = select(*columns).join(Notebook, Notebook.assignment_id == Assignment.id)
        rows = session.execute(joined.where(Assignment.name == name)).all()
        if not rows:
            raise CourseError(f"The gradebook does not know the lesson {name}. {RELEASE}")
        if len(rows) > 1 or rows[0][3] != name:
            raise CourseError(
                f"The gradebook has other notebooks in {name} than {name}.ipynb. "
                "Move the gradebook away to begin a new one, or remove them with nbgrader."
            )
        assignment_id, duedate, notebook_id, _, kernelspec = rows[0]
        base, graded = BaseCell.__table__, GradeCell.__table__
        cells = session.execute(
            select(base.c.name, base.c.type, base.c.id, graded.c.max_score)
            .outerjoin(graded, graded.c.id == base.c.id)
            .where(base.c.notebook_id == notebook_id)
        ).all()
        of_kind = {kind: [cell for cell in cells if cell.type == kind.__name__] for kind in (GradeCell, SolutionCell)}
        if tasks := [cell.name for cell in cells if cell.type == TaskCell.__name__]:
            raise CourseError(f"The gradebook has the manual task `{tasks[0]}` in {name}, the course none. {RELEASE}")
        columns = (SourceCell.name, SourceCell.checksum, SourceCell.locked)
        sources = session.execute(select(*columns).where(SourceCell.notebook_id == notebook_id)).all()
        return cls(
            name,
            notebook_id,
            assignment_id,
            duedate,
            json.loads(kernelspec or "{}"),
            {cell.name: (cell.id, cell.max_score) for cell in of_kind[GradeCell]},
            {cell.name: cell.id for cell in of_kind[SolutionCell]},
            {name: (checksum, locked) for name, checksum, locked in sources},
        )

    def require_fit(self, result: Result, notebook: NotebookNode) -> None:
        """Raise CourseError where a result is about another lesson than the gradebook's."""
        if result.reason:
            return
        self._require_points({outcome.check: outcome.points for outcome in result.checks})
        self.require_same(notebook)

    def require_same(self, notebook: NotebookNode) -> None:
        """Raise CourseError where the checks, the answers or a locked text differ from the gradebook's."""
        marked = _marked_cells(notebook)
        self._require_points({name: float(_marks(cell)["points"]) for name, cell in marked.items() if is_grade(cell)})
        self._require_names(self.answers, [name for name, cell in marked.items() if is_solution(cell)], "answer")
        self._require_names(self.sources, marked, "cell")
        for name, cell in marked.items():
            if is_locked(cell) and compute_checksum(cell) != self.sources[name][0]:
                self._differs(f"its `{name}` has another text")

    def _require_points(self, points: Mapping[str, float]) -> None:
        self._require_names(self.checks, points, "check")
        for name, worth in points.items():
            if worth != self.checks[name][1]:
                self._differs(f"its `{name}` is worth {self.checks[name][1]:g} points and not {worth:g}")

    def _require_names(self, known: Mapping[str, Any], found: Mapping[str, Any] | Sequence[str], what: str) -> None:
        for name in sorted(known.keys() ^ set(found)):
            self._differs(f"it {'has' if name in known else 'lacks'} the {what} `{name}`")

    def _differs(self, how: str) -> None:
        raise CourseError(f"The gradebook has another {self.name} than the one graded: {how}. {RELEASE}")

    def grades_of(self, submitted: SubmittedNotebook) -> ColumnElement[bool]:
        """Select the grades of a submission; nbgrader's only index on them begins with the cell."""
        cells = [cell_id for cell_id, _ in self.checks.values()]
        return Grade.cell_id.in_(cells) & (Grade.notebook_id == submitted.id)

    def unanswered(self, notebook: NotebookNode) -> set[str]:
        """Return the answers that are still as released."""
        marked = _marked_cells(notebook)
        answers = {name: cell for name, cell in marked.items() if is_solution(cell)}
        return {name for name, cell in answers.items() if compute_checksum(cell) == self.sources[name][0]}

    def marked(self, notebook: NotebookNode) -> NotebookNode:
        """Give the notebook's cells the metadata that nbgrader's own autograde leaves in them."""
        for name, cell in _marked_cells(notebook).items():
            checksum, locked = self.sources[name]
            _marks(cell).update({"checksum": checksum, "locked": locked})
            if is_grade(cell):
                _marks(cell)["points"] = self.checks[name][1]
        if self.kernelspec:
            notebook.metadata["kernelspec"] = from_dict(self.kernelspec)
        return notebook


def _marks(cell: NotebookNode) -> dict[str, Any]:
    return cell.metadata.nbgrader


def _marked_cells(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """The cells that nbgrader knows, by their names."""
    marked = (cell for cell in notebook.cells if cell.metadata.get("nbgrader"))
    return {_marks(cell)["grade_id"]: cell for cell in marked}


def _page(reason: str) -> NotebookNode:
    """A notebook for one that could not be graded: it opens in formgrader, and its feedback tells the student why.

    The reason may quote the student's file; indented, it is text in which no browser sees anything to run.
    """
    lines = "\n".join(f"    {line}" for line in reason.splitlines())
    source = f"# This submission could not be graded\n\nThe reason:\n\n{lines}"
    return new_notebook(cells=[new_markdown_cell(source, id="not-gradable")])


def _to_bytes(notebook: NotebookNode) -> bytes:
    """Return a notebook's file on one line, which nobody reads and which is ten times as fast as nbformat's.

    Half a character, which JSON can spell and an output may hold, becomes a question mark.
    """
    return (json.dumps(notebook, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _check_name(student: str) -> None:
    plain = student.isprintable() and not student.startswith(".") and Path(student).name == student
    if not plain or not 0 < len(student) <= 128:
        shown = student.encode("unicode_escape").decode()
        raise CourseError(
            f"`{shown}` cannot be a student's name in the gradebook. Give the folder in submitted/ a name of at most "
            "128 printable characters that does not begin with a dot."
        )


def _copy_others(submitted: Path, folder: Path, course: CourseDirectory, mode: int) -> list[str]:
    """Copy what nbgrader copies, except links, what is no file, and what exceeds nbgrader's own limits for copying."""
    ignored, left_out, count, room = [*course.ignore, "*.ipynb"], [], 0, course.max_dir_size * 1000

    def wanted(names: Sequence[str]) -> list[str]:
        return sorted(name for name in names if not any(fnmatch(name, pattern) for pattern in ignored))

    if not submitted.is_dir():
        raise CourseError(f"{submitted} is no folder of a submission. Was it moved while it was graded? Grade again.")
    for place, folders, names in os.walk(submitted):
        inside = Path(place).relative_to(submitted)
        folders[:] = wanted(folders)
        left_out += [inside / name for name in folders if Path(place, name).is_symlink()]
        for name in wanted(names):
            try:
                handle = os.open(Path(place, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                left_out.append(inside / name)
                continue
            with open(handle, "rb") as source:
                found = os.fstat(handle)
                fits = found.st_size <= min(course.max_file_size * 1000, room) and count < MOST_FILES
                if not S_ISREG(found.st_mode) or not fits:
                    left_out.append(inside / name)
                    continue
                (folder / inside).mkdir(parents=True, exist_ok=True)
                with _durable(folder / inside / name, mode) as copy:
                    shutil.copyfileobj(source, copy)
                count, room = count + 1, room - found.st_size
    if not left_out:
        return []
    shown = ["".join(c if c.isprintable() else "?" for c in str(path))[:80] for path in left_out[:3]]
    more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
    return [f"Not kept beside the graded notebook (links, too large or unreadable): {', '.join(shown)}{more}."]


@contextmanager
def _durable(path: Path, mode: int) -> Iterator[Any]:
    """Write a new file that is on the disk when done."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Bring a folder's names to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Record: one result after the other into nbgrader's folders and gradebook, each wholly or not at all.

The folder in autograded/ takes its place first. Then one transaction writes the scores, row for row as
`nbgrader autograde` would, and the result with the digest of that notebook into a table of our own; before it ends,
a result that replaces another has its line in the history. A run that is killed in between leaves a notebook that
fits no row, and the next run grades that submission again.

For instructors only. A part of nbgrader cannot be imported without all of it, which takes about a second.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeAlias

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook, new_uuid
from nbgrader.converters import Autograde
from nbgrader.utils import parse_utc
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.orm import Session, load_only

from autograder import files
from autograder.course.config import CourseError
from autograder.course.paths import Course, is_folder_name
from autograder.course.plain import data_of, split
from autograder.course.versions.released import read_source
from autograder.grading.gradebook import counting
from autograder.grading.gradebook.counting import Contest, HandIn
from autograder.grading.gradebook.database import OTHERS, REQUESTS, RESULTS, Gradebook, explained, result_in
from autograder.grading.gradebook.folder import write_folder
from autograder.grading.gradebook.history import Recorded, Regrade, append
from autograder.grading.gradebook.late import LateRule, PenaltyChange, grades_of, recompute
from autograder.grading.gradebook.lesson import GradebookLesson, read_lesson
from autograder.grading.gradebook.requests import keep_requests
from autograder.grading.results import Note, NoteKind, Result

_Notebooks: TypeAlias = Mapping[str, SubmittedNotebook]  # by the id of the lesson's notebook
LONGEST_NAME = 255  # in bytes, of a folder


class Recorder:
    """The one writer of a run, to be used in a `with` statement and in one thread.

    Fork no process while it is open: the copy would share its connection and could keep its lock.
    """

    _connection: Connection

    def __init__(self, root: Path) -> None:
        """Read the course's configuration; CourseError where it names what cannot be loaded."""
        self._course = Course.at(root)
        self._autograde = Autograde(coursedir=self._course.directory, config=self._course.config)
        self._late, self._rule = LateRule(self._course.config), counting.rule_of(self._course.config)
        self._gradebook = Gradebook(self._course.db_url, self._course.root)
        self._open = ExitStack()
        self.regraded: list[Regrade] = []  # what it has recorded in place of an earlier result

    def __enter__(self) -> Self:
        """Open the gradebook, as the only one who records results in it."""
        self._connection = self._open.enter_context(self._gradebook.writing())
        return self

    def __exit__(self, *error: object) -> None:
        """Let others record."""
        self._open.close()

    def require_as_released(self, lesson: str) -> None:
        """Raise CourseError where a lesson of solutions/ is not the one that students and the gradebook have."""
        with self._transaction() as session:
            released = read_lesson(session.connection(), lesson)
        path = self._course.source(lesson)
        try:
            source = read_source(path, self._course.config)
        except CourseError as error:
            raise CourseError(f"{path}: {error}") from None
        released.require_same(source)
        if self._course.is_plain:
            released.require_same_data(data_of(source), self._course.released(lesson))

    def graded(self, lesson: str) -> dict[str, Recorded]:
        """Return for each student what is recorded for a lesson; CourseError where it is not the one in solutions/.

        A result whose notebook is no longer in autograded/ as it was recorded is not among them.
        """
        ours = RESULTS.c
        columns = ours.student, ours.digest, ours.recorded, ours.result, ours.notebook_sha256
        self.require_as_released(lesson)
        with self._transaction() as session:
            for table in (RESULTS, OTHERS, REQUESTS):  # of students whom nbgrader has removed since
                session.execute(delete(table).where(table.c.submission_id.not_in(select(SubmittedAssignment.id))))
            rows = session.execute(
                select(*columns)
                .join(SubmittedAssignment, SubmittedAssignment.id == ours.submission_id)
                .where(ours.lesson == lesson)
            ).all()
        recorded = {}
        for row in rows:
            try:
                paths = self._course.graded_notebooks(row.student, lesson)
                if files.digest_of(paths) == row.notebook_sha256 and (result := result_in(row.result)):
                    recorded[row.student] = Recorded(row.digest, result, row.recorded)
            except OSError:
                continue  # moved away: to be graded again
        return recorded

    def record(
        self,
        result: Result,  # with its graded notebook; without one, a page with the reason takes its place
        digest: str,  # of what was graded, in parts as `history` compares them; `graded` returns it
        *,
        submitted: Path | None,  # the folder, whose other files nbgrader keeps beside the graded notebook
        timestamp: datetime | None,  # when it was handed in; None where nobody knows, and nobody is late
        forced: bool = False,  # it would have been graded had nothing changed
        hand_ins: Sequence[str] = (),  # that may count, as `hand_in_of` names them, the oldest first
        requests: Mapping[str, str] | None = None,  # exercise → why to look again; None for an earlier hand-in
    ) -> Result:
        """Write one result: folder, scores and the result itself, all of it durable on return.

        Where another hand-in counts, its folder and scores stay, and this result is kept beside it. Return it as it is
        recorded, with a note on files that were left out, or that another hand-in counts; raise CourseError with
        nothing in the gradebook changed.
        """
        _require_plain_name(result.student)
        with self._transaction() as session:
            lesson = read_lesson(session.connection(), result.lesson)
            notebook = from_dict(json.loads(result.notebook)) if result.notebook else _page(result.reason)
            lesson.require_fit(result, notebook)
            submission, notebooks = self._find_or_add(session, lesson, result.student)
            standing = session.execute(select(RESULTS).where(RESULTS.c.submission_id == submission.id)).first()
            new = HandIn(digest, timestamp and parse_utc(timestamp), replace(result, notebook=""))
            now = datetime.now(UTC).replace(tzinfo=None)
            if requests is not None:
                keep_requests(session.connection(), lesson, result.student, submission.id, requests)
            aside = session.scalars(select(OTHERS.c.digest).where(OTHERS.c.submission_id == submission.id))
            chosen = counting.is_chosen(digest, hand_ins, [counting.hand_in_of(one) for one in aside])
            counting.forget_others(session, submission.id, but={*hand_ins} - {counting.hand_in_of(digest)})
            if standing and counting.are_rivals(standing.digest, digest, hand_ins):
                contest = self._contest(session, lesson, submission, notebooks)
                if not contest.is_won_by(new, standing._asdict(), submission.timestamp, hand_ins):
                    counting.set_aside(session, counting.row_of(new, submission.id, now), new.submitted)
                    return replace(result, notes=(*result.notes, _not_counted(submission)))
                counting.set_aside(session, standing._asdict(), submission.timestamp)
            submission.timestamp = new.submitted
            unanswered = lesson.unanswered(notebook)
            _write_grades(session, lesson, result, notebooks, unanswered)
            _write_comments(session, lesson, notebooks, unanswered)
            recompute(session, self._late, lesson, [result.student])
            session.flush()
            lesson.mark(notebook)
            parts = split(notebook, result.lesson) if result.notebook else dict.fromkeys(lesson.notebooks, notebook)
            data = {name: _to_bytes(part) for name, part in sorted(parts.items())}
            if left_out := self._write_folder(result, data, submitted):
                result = replace(result, notes=(*result.notes, Note(NoteKind.FILES_LEFT_OUT, left_out)))
                new = new._replace(result=replace(result, notebook=""))
            session.execute(delete(RESULTS).where(RESULTS.c.lesson == lesson.name, RESULTS.c.student == result.student))
            row = counting.row_of(new, submission.id, now) | {
                "notebook_sha256": hashlib.sha256(b"".join(data.values())).hexdigest()
            }
            session.execute(insert(RESULTS).values(row))
            if standing:
                old = Recorded(standing.digest, result_in(standing.result), standing.recorded)
                regrade = Regrade.of(result, digest, now, old, forced=forced, chosen=chosen)
                append(self._gradebook.history, regrade)
        if standing:
            self.regraded.append(regrade)
        return result

    def others(self, lesson: str) -> dict[tuple[str, str], HandIn]:
        """Return by student and digest the hand-ins for a lesson whose results do not count."""
        with self._transaction() as session:
            others = [other for _, other in counting.read_others(session.connection()) if other.result.lesson == lesson]
        return {(other.result.student, other.digest): other for other in others}

    def would_count(self, new: HandIn, hand_ins: Sequence[str]) -> bool:
        """Whether a hand-in of somebody whose points are recorded would count, rather than the one that does."""
        with self._transaction() as session:
            lesson = read_lesson(session.connection(), new.result.lesson)
            submission, notebooks = self._find_or_add(session, lesson, new.result.student)
            standing = session.execute(select(RESULTS).where(RESULTS.c.submission_id == submission.id)).first()
            if standing is None or not counting.are_rivals(standing.digest, new.digest, hand_ins):
                return True
            contest = self._contest(session, lesson, submission, notebooks)
            return contest.is_won_by(new, standing._asdict(), submission.timestamp, hand_ins)

    def counting(self, hand_ins: Sequence[HandIn]) -> HandIn:
        """Return the one that counts of a student's hand-ins for a lesson, the oldest first."""
        with self._transaction() as session:
            lesson = read_lesson(session.connection(), hand_ins[0].result.lesson)
            submission, notebooks = self._find_or_add(session, lesson, hand_ins[0].result.student)
            return self._contest(session, lesson, submission, notebooks).counting(hand_ins)

    def _contest(
        self, session: Session, lesson: GradebookLesson, submission: SubmittedAssignment, notebooks: _Notebooks
    ) -> Contest:
        grades = list(session.scalars(select(Grade).where(grades_of(lesson, *notebooks.values()))))
        check_of = {cell: check for check, cell in lesson.checks.items()}
        by_hand = {check_of[one.cell_id]: one.manual_score for one in grades if one.manual_score is not None}
        extra = sum(one.extra_credit or 0.0 for one in grades)
        due = lesson.due(submission.extension)
        return Contest(self._rule, self._late, submission.student_id, due, by_hand, extra)

    def recompute_penalties(self, lesson: str) -> list[PenaltyChange]:
        """Compute anew what is taken off for being late, by today's due date, extensions, rule and points."""
        with self._transaction() as session:
            return recompute(session, self._late, read_lesson(session.connection(), lesson))

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        with explained(self._gradebook.where), Session(self._connection) as session, session.begin():
            yield session

    def _find_or_add(
        self, session: Session, lesson: GradebookLesson, student: str
    ) -> tuple[SubmittedAssignment, _Notebooks]:
        """Return a student's submission and the notebooks in it; what there is none of is added."""
        of_student = {"assignment_id": lesson.assignment_id, "student_id": student}
        submission = session.scalar(select(SubmittedAssignment).filter_by(**of_student))
        if submission is None:
            if session.scalar(select(Student.id).where(Student.id == student)) is None:
                if not self._autograde.create_student:
                    raise CourseError(
                        f"The gradebook has no student {student}, and {self._course.root}/nbgrader_config.py forbids "
                        f"adding any. Run `nbgrader db student add {student}`, then grade again."
                    )
                session.add(Student(id=student))
                session.flush()
            submission = SubmittedAssignment(id=new_uuid(), **of_student)
            session.add(submission)
        sources = lesson.notebooks.values()  # with which nbgrader's only index on them begins
        of_lesson = (SubmittedNotebook.assignment_id == submission.id) & SubmittedNotebook.notebook_id.in_(sources)
        notebooks = {row.notebook_id: row for row in session.scalars(select(SubmittedNotebook).where(of_lesson))}
        for source in sources:
            if source not in notebooks:
                notebooks[source] = SubmittedNotebook(id=new_uuid(), notebook_id=source, assignment_id=submission.id)
                session.add(notebooks[source])
                session.flush()
        return submission, notebooks

    def _write_folder(self, result: Result, notebooks: Mapping[str, bytes], submitted: Path | None) -> str:
        """Write the folder in autograded/, and return what was left out of it."""
        folder = self._course.autograded(result.student, result.lesson)
        mode = int(str(self._autograde.permissions), 8)
        left_out = write_folder(folder, notebooks, submitted, self._course, mode)
        if self._course.is_shared:
            self._autograde.set_permissions(result.lesson, result.student)
        return left_out


def _write_grades(
    session: Session, lesson: GradebookLesson, result: Result, notebooks: _Notebooks, unanswered: set[str]
) -> None:
    """Write the points of each check as nbgrader's Autograde does; those by hand stay.

    A written answer has none before somebody reads it, and 0 where there is none.
    """
    columns = (Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.needs_manual_grade)
    query = select(Grade).options(load_only(*columns)).where(grades_of(lesson, *notebooks.values()))
    grades = {grade.cell_id: grade for grade in session.scalars(query.with_for_update())}
    earned = result.earned
    for check, cell in lesson.checks.items():
        if (grade := grades.get(cell)) is None:
            session.add(grade := Grade(cell_id=cell, notebook_id=notebooks[lesson.homes[cell]].id))
        waits = check in lesson.written and check not in unanswered and not result.reason
        grade.auto_score = None if waits else earned.get(check, 0.0)
        grade.needs_manual_grade = waits or (grade.manual_score is not None and not result.reason)


def _write_comments(session: Session, lesson: GradebookLesson, notebooks: _Notebooks, unanswered: set[str]) -> None:
    """Write on each answer whether there is one, as nbgrader's Autograde does."""
    cells = {**lesson.answers, **{name: lesson.checks[name] for name in lesson.tasks}}
    ids = [notebook.id for notebook in notebooks.values()]
    of_answers = Comment.cell_id.in_(cells.values()) & Comment.notebook_id.in_(ids)
    query = select(Comment).options(load_only(Comment.cell_id, Comment.auto_comment)).where(of_answers)
    comments = {comment.cell_id: comment for comment in session.scalars(query)}
    for answer, cell in cells.items():
        if (comment := comments.get(cell)) is None:
            session.add(comment := Comment(cell_id=cell, notebook_id=notebooks[lesson.homes[cell]].id))
        comment.auto_comment = "No response." if answer in unanswered else None


def _not_counted(submission: SubmittedAssignment) -> Note:
    time = f"the one of {submission.timestamp:%Y-%m-%d %H:%M} UTC" if submission.timestamp else "another one"
    return Note(NoteKind.NOT_COUNTED, f"This hand-in does not count; {time} does.")


def _page(reason: str) -> NotebookNode:
    """A notebook for one that could not be graded: it opens in formgrader, and its feedback tells the student why.

    The reason may quote the student's file; indented, it is text in which no browser sees anything to run.
    """
    lines = "\n".join(f"    {line}" for line in reason.splitlines())
    source = f"# This submission could not be graded\n\nThe reason:\n\n{lines}"
    notebook: NotebookNode = new_notebook(cells=[new_markdown_cell(source, id="not-gradable")])
    return notebook


def _to_bytes(notebook: NotebookNode) -> bytes:
    """Return a notebook's file on one line, which nobody reads and which is ten times as fast as nbformat's.

    Half a character, which JSON can spell and an output may hold, becomes a question mark.
    """
    return (json.dumps(notebook, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _require_plain_name(student: str) -> None:
    fits = student.isprintable() and is_folder_name(student) and len(student) <= 128
    if not fits or len(student.encode()) > LONGEST_NAME:
        shown = student.encode("unicode_escape").decode()
        raise CourseError(
            f"`{shown}` cannot be a student's name in the gradebook. Give the folder in submitted/ a name of at most "
            f"128 printable characters, {LONGEST_NAME} bytes, that does not begin with a dot."
        )

"""What `autograder grade` says at its end: the points that count, for people and for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from autograder.course.names import counted, printable
from autograder.grading.gradebook.history import Regrade
from autograder.grading.gradebook.late import PenaltyChange
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, label_of
from autograder.grading.results import Outcome, Result, told_once

ROWS = 40  # submissions in the table; the rest is in the gradebook
STRAYS = 200  # notebooks that are named, of those that lie in no lesson's folder
INDENT = 2
PLACE = "A notebook belongs into submitted/<student>/<lesson>/."


@dataclass
class Summary:
    """What a run came to, without notebooks."""

    graded: list[Result] = field(default_factory=list)  # by this run, with their checks where `print_json` follows
    unchanged: list[Result] = field(default_factory=list)  # graded by an earlier one
    # what became of those of `graded` that an earlier run had graded
    regraded: list[Regrade] = field(default_factory=list)
    # by lesson, where something else is taken off for being late than before
    penalties: list[tuple[str, PenaltyChange]] = field(default_factory=list)
    strays: Sequence[str] = ()  # notebooks in no lesson's folder
    empty: Sequence[str] = ()  # lessons that were named, and that nobody has handed in
    seconds: float = 0.0  # what the run took
    dry_run: bool = False  # nothing was recorded; `regraded` is what would become of it
    first: int = 0  # how many of `graded` were never graded before, in a dry run

    @property
    def status(self) -> int:
        """1 when some of this run could not be graded, or a check is broken; those known from before are only named."""
        return int(any(result.reason or result.broken for result in self.graded))

    def print_json(self, out: Console, book: GradebookSnapshot) -> None:
        """Print it as one object, for programs."""
        names = {
            one: book.students[one].name for one in sorted({one.student for one in self.graded} & {*book.students})
        }
        graded = [{**result.to_json(), "counts": _counts(result, book)} for result in self.graded]
        whole = {
            "students": names,
            "graded": graded,
            "regraded": [asdict(regrade) for regrade in self.regraded],
            "penalties": [{"lesson": lesson, **change._asdict()} for lesson, change in self.penalties],
            "unchanged": len(self.unchanged),
            "dry_run": self.dry_run,
            "strays": self.strays,
        }
        out.print_json(json.dumps(whole))

    def print(self, out: Console, book: GradebookSnapshot) -> None:
        """Print a row for each submission that is worth a look, and the whole in one line."""
        graded, unchanged = self.graded, self.unchanged
        rows = [(result, self._notes(result, book)) for result in graded]
        noteworthy = [row for row in rows if row[1] or row[0].unenforced]
        if len(rows) > ROWS:
            rows = noteworthy[:ROWS]
        rows.sort(key=lambda row: (row[0].lesson, row[0].student))
        earned = _points_now if self.dry_run else _points
        lines = [((label_of(one.student, book.students), one.lesson, earned(one, book)), notes) for one, notes in rows]
        print_rows(out, ("student", "lesson", "points"), lines)
        if len(noteworthy) > ROWS:
            out.print(f"… and {len(noteworthy) - ROWS} more with a note; formgrader shows all.")
        self._print_broken(out)
        self._print_regraded(out, book)
        for lesson, change in self.penalties[:ROWS]:
            points = f"{counted(change.after, 'point')} off for being late, {change.before:g} before"
            text = f"{label_of(change.student, book.students)}, {lesson}: {points}."
            out.print(escape(printable(text)), soft_wrap=True)
        if len(self.penalties) > ROWS:
            out.print(f"… and {len(self.penalties) - ROWS} more for whom the points off for being late are others.")
        line = f"✓ {len(graded)} graded in {self.seconds:.0f} s{_failed(graded)}"
        if unchanged:
            line += (
                f"; {len(unchanged)} unchanged since they were graded (--force grades them anew){_failed(unchanged)}"
            )
        out.print(line + ".")
        if self.empty:
            out.print(f"Nobody has handed in {' or '.join(self.empty)}.", highlight=False)
        if self.dry_run:
            were = "was" if self.first == 1 else "were"
            first = f" {self.first} of them {were} never graded before." if self.first else ""
            out.print(f"Nothing was recorded, being a dry run.{first}")
        if known := sorted(f"{result.student} ({result.lesson})" for result in unchanged if result.reason):
            out.print(escape(printable(f"Known from before and still not gradable: {', '.join(known)}.")))
        if self.strays:
            more = f" and {len(self.strays) - STRAYS} more, which --json names" if len(self.strays) > STRAYS else ""
            shown = ", ".join(self.strays[:STRAYS]) + more
            out.print(escape(f"Not graded, being in no lesson's folder: {printable(shown)}.\n{PLACE}"))
            for line in book.course.misplaced(self.strays, book.students)[:ROWS]:
                out.print(escape(printable(line)), soft_wrap=True)

    def _notes(self, result: Result, book: GradebookSnapshot) -> str:
        """What is odd about a result; in a dry run, which leaves no page of feedback, also what its checks said."""
        if not self.dry_run:
            return _notes(result, book)
        said = (f"{one.check}: {' '.join(one.message.split())}" for one in result.checks if one.message)
        return " ".join([*said, result.reason or " ".join(told_once(result.notes))]).strip()

    def _print_broken(self, out: Console) -> None:
        """Say which checks are wrong themselves, and how to go on."""
        found: dict[tuple[str, str], list[Outcome]] = {}
        for result in self.graded:
            for outcome in result.broken:
                found.setdefault((result.lesson, outcome.check), []).append(outcome)
        for (lesson, check), outcomes in found.items():
            count = sum(result.lesson == lesson for result in self.graded)
            why = " ".join("".join(outcomes[0].message.split("\n\n")[1:2]).split())  # the details
            text = f"✗ {lesson}, {check}: the check itself is broken for {len(outcomes)} of {count}. {why}"
            out.print(escape(printable(text)), soft_wrap=True, highlight=False)
        if found:
            out.print("Mend it in solutions/, run `autograder release`, then grade again.")

    def _print_regraded(self, out: Console, book: GradebookSnapshot) -> None:
        changed = [one for one in self.regraded if one.old != one.new or one.checks]
        changed.sort(key=lambda one: (one.lesson, one.student))
        if not self.regraded:
            return
        colon = ":" if changed else "."
        again = "would be recorded again" if self.dry_run else "graded again"
        out.print(f"{len(self.regraded)} {again}, {len(changed)} of them with other points{colon}")
        if changed:
            print_regrades(out, changed[:ROWS], book)
        if len(changed) > ROWS:
            out.print(f"… and {len(changed) - ROWS} more; `autograder history` shows all.")


def print_rows(out: Console, head: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]) -> None:
    """Print a table whose rows have a note each, behind the cells where it fits into the line, beneath them else."""
    if not rows:
        return
    widths = [
        max(map(cell_len, map(printable, column))) for column in zip(head, *(cells for cells, _ in rows), strict=True)
    ]
    for cells, note in [(head, ""), *rows]:
        line = Text("  ".join(set_cell_size(printable(cell), width) for cell, width in zip(cells, widths, strict=True)))
        note = printable(note)
        fits = line.cell_len + 2 + cell_len(note) <= out.width
        line.append(f"  {note}" * fits)
        line.rstrip()
        out.print(line, soft_wrap=True, style="bold" if cells is head else "")
        if note and not fits:
            for part in Text(note).wrap(out, out.width - INDENT):
                out.print(Text(" " * INDENT) + part, soft_wrap=True)


def print_regrades(out: Console, regraded: Sequence[Regrade], book: GradebookSnapshot, *, times: bool = False) -> None:
    """Print for each submission that was graded again (when), old → new points and why, and its checks beneath."""
    for one in regraded:
        when = f"{one.regraded[:16].replace('T', ' ')} UTC  " * times
        points = f"{'?' if one.old is None else f'{one.old:g}'} → {one.new:g}"
        line = f"{when}{label_of(one.student, book.students)}, {one.lesson}: {points} ({', '.join(one.reasons)})"
        out.print(Text(printable(line)), soft_wrap=True)
        width = max((cell_len(change.check) for change in one.checks), default=0)
        for change in one.checks:
            text = f"{'':{INDENT}}{printable(change.check):{width}}  {change.old:g} → {change.new:g}"
            out.print(Text(text), soft_wrap=True)


def _submission(result: Result, book: GradebookSnapshot) -> GradedSubmission | None:
    """What the gradebook has of it; None where it could not be recorded and nothing was before."""
    return book.graded.get((result.student, result.lesson)) if result.lesson in book.lessons else None


def _counts(result: Result, book: GradebookSnapshot) -> dict[str, Any] | None:
    if (submission := _submission(result, book)) is None:
        return None
    return {
        "points": submission.score,
        "max_points": book.lessons[result.lesson].max_score,
        "penalty": submission.penalty,
        "by_hand": sorted(submission.by_hand),
        "to_review": sorted(submission.to_review),
    }


def _points(result: Result, book: GradebookSnapshot) -> str:
    """The points that count; a dash where nothing could be graded and nobody gave any."""
    submission = _submission(result, book)
    if submission is None or (result.reason and not submission.score):
        return "–"
    return f"{submission.score:g} of {book.lessons[result.lesson].max_score:g}"


def _points_now(result: Result, book: GradebookSnapshot) -> str:
    """The points of this run."""
    return "–" if result.reason else f"{result.score:g} of {result.max_score:g}"


def _notes(result: Result, book: GradebookSnapshot) -> str:
    """What is odd about a result, after what else than its checks made its points."""
    notes = []
    if submission := _submission(result, book):
        notes += [f"Late: −{submission.penalty:g}."] * bool(submission.penalty)
        notes += ["Points by hand."] * bool(submission.by_hand)
        notes += ["To be looked at."] * submission.needs_review
    return " ".join([*notes, result.reason or " ".join(told_once(result.notes))]).strip()


def _failed(results: Sequence[Result]) -> str:
    count = sum(bool(result.reason) for result in results)
    return f", {count} of them not gradable" if count else ""

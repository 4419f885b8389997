"""Keeping what passed: an answer goes into the file when every check that its learner sees has passed with it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from autograder.transformer import LESSONS
from autograder.yours import place
from autograder.yours.parts_file import PartsFile
from autograder.yours.source import Gathered, NotAlone, gather, imports_of
from autograder.yours.trials import TRIALS


class Keeper:
    """The checks that have passed in one session, for each exercise with the answer that they passed with."""

    def __init__(self) -> None:
        self._passed: dict[str, tuple[Gathered | str, set[str]]] = {}

    def passed(
        self, exercise: str, rule: str, exercises: Mapping[str, int], notebook: Mapping[str, object]
    ) -> str | None:
        """Take note of a check that passed; return the line to print when an answer is kept, or could not be."""
        answer, count = exercise.partition(" ")[2], exercises.get(exercise, 0)
        if "In" not in notebook or answer not in TRIALS or not count or not place.is_used():
            return None
        numbers = {answer: number for number, _, answer in (name.partition(" ") for name in exercises)}
        answers = LESSONS.answers_of(answer)
        gathered: Gathered | str | None
        try:
            gathered = gather(answers, notebook, TRIALS)
        except NotAlone as reason:
            gathered = str(reason)
        if gathered is None:
            return None
        before, rules = self._passed.get(answer, (None, set()))
        rules = {*rules, rule} if gathered == before else {rule}
        self._passed[answer] = gathered, rules
        if len(rules) != count:
            return None
        if isinstance(gathered, str):
            return f"  Not kept in {place.FILE}: {gathered}. Until it is, other lessons take the course's."
        return self._keep(dict.fromkeys(answers, numbers[answer]) | numbers, answers, gathered, notebook)

    def _keep(
        self,
        numbers: Mapping[str, str],
        answers: tuple[str, ...],
        gathered: Gathered,
        notebook: Mapping[str, object],
    ) -> str | None:
        path = place.folder() / place.FILE
        try:
            old = PartsFile.read(place.found(place.FILE))
            new = old.put(answers, gathered, numbers, imports_of(notebook))
            if new.text == old.text and path.is_file():
                return None
            copied = _copy(path) if path.is_file() and new.would_lose_of(old) else ""
            new.write(path)
        except NotAlone as reason:
            return f"  Not kept in {place.FILE}, which holds what passed before: {reason}."
        except OSError as error:
            return (
                f"  Not kept: {path} cannot be written ({type(error).__name__}). "
                "Your answer is safe in this notebook; run the check again when the file can be."
            )
        return f"  Kept in {place.FILE}.{copied}"


def _copy(path: Path) -> str:
    """Copy a file that somebody has edited to a free name beside it; return the sentence that says so."""
    count = 1
    while (kept := path.with_name(f"{path.stem}.edited-{count}{path.suffix}")).exists():
        count += 1
    shutil.copy2(path, kept)
    return f" What you had written into that file yourself is in {kept.name} now."

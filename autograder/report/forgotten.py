"""What a class has forgotten of earlier lessons, as its hand-ins show; nothing of it is graded."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder import lessons
from autograder.grading.submission import reader

LONGEST = 60  # letters of a topic: whoever hands in may have written one
LESSON = re.compile(r" \(lesson \d+\)$")


@dataclass(frozen=True)
class Forgotten:
    """The topics that were missed when a lesson last asked about them."""

    asked: int  # how many hand-ins say which were missed, or that none was
    topics: tuple[tuple[str, int], ...]  # each with how many missed it, the most frequent first


def forgotten(folders: Iterable[Path], lesson: str) -> Forgotten:
    """Count the topics over the hand-ins of a lesson, each in its folder."""
    missed = [topics for folder in folders if (topics := _missed(folder, lesson)) is not None]
    count = Counter(topic for topics in missed for topic in topics)
    return Forgotten(len(missed), tuple(sorted(count.items(), key=lambda each: (-each[1], each[0]))))


def _missed(folder: Path, lesson: str) -> set[str] | None:
    """The topics that a hand-in calls missed; None where it says nothing of any."""
    try:
        printed = "\n".join(reader.printed(reader.bytes_of(reader.find(folder, lesson)[0])))
    except reader.NotGradable:
        return None
    found = [match for line in lessons.installed().missed for match in re.finditer(line, printed, re.MULTILINE)]
    said = (found[-1]["topics"] or "").split(", ") if found else []
    return {LESSON.sub("", topic)[:LONGEST] for topic in said if topic} if found else None

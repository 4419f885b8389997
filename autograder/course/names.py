"""Names and numbers that people type and read: what they may have meant, how they are told, what a terminal shows."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SIMILAR = 2  # that are suggested, at most


def did_you_mean(names: Iterable[str], known: Iterable[str]) -> str:
    """Name what is known and like these unknown names: " Did you mean `ada`?"; "" where nothing is."""
    known = list(known)
    similar = [name for unknown in names for name in get_close_matches(unknown, known, SIMILAR)]
    return f" Did you mean {' or '.join(f'`{name}`' for name in dict.fromkeys(similar))}?" if similar else ""


def lesson_name(text: str) -> str:
    """Return a lesson's name as a command line has it, perhaps with the slash that a shell puts behind a folder."""
    return text.rstrip("/")


def printable(text: str) -> str:
    """Return a text on one line that does nothing to a terminal: spaces for ends of lines, ? for all else that acts."""
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "?" for letter in text)


def counted(number: float, what: str) -> str:
    """Say how many of something there are: "1 point", "2.5 points", "3 rows in grade"."""
    noun, *rest = re.split(r"(?= (?:of|in) )", what, maxsplit=1)
    return "".join([f"{round(number, 4):.10g} {noun}{'' if number == 1 else 's'}", *rest])


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence has them: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), *names[-1:]] if len(names) > 1 else names)

"""Where an export goes, and what is said about it."""

import sys
from pathlib import Path

from autograder.course.names import printable
from autograder.export.selection import Messages
from autograder.spreadsheets.sheet import save

SCREEN = "-"  # instead of a file


def put(
    data: bytes, output: str, usual: str, *, force: bool = False, suffix: str = ".csv", template: Path | None = None
) -> str:
    """Write it to its place, and return where that is.

    Args:
        output: the file; "" for the usual one, "-" for standard output.
        force: replace one that is there.
        suffix: what its name has to end in.
        template: the file that is never replaced.

    Raises:
        CourseError: it may not be written there.
    """
    if output == SCREEN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return "standard output"
    path = Path(output or usual)
    save(path, data, force=force, suffix=suffix, template=template)
    return str(path)


def tell(messages: Messages, done: str, output: str) -> int:
    """Print what there is to know and what was done; return the exit status, 1 where something is missing."""
    for line in messages.notes:
        print(printable(line), file=sys.stderr)
    if messages.missing:
        print("Not in the file:", *(f"  {printable(line)}" for line in messages.missing), sep="\n", file=sys.stderr)
    print(f"✓ {done}", file=sys.stderr if output == SCREEN else sys.stdout)
    return 1 if messages.missing else 0

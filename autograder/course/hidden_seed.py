"""The seed of a course's hidden tests: a secret, so that no table of cases that somebody knows passes them.

In solutions/ a hidden test says `exercises.….cases(…, seed=11)`, the same in every copy of the course. The judge runs
it with another number, made of that one and of the course's own secret, which the first release draws.
"""

import secrets
from pathlib import Path

from autograder import files
from autograder.course.config import CourseError

NAME = "hidden_seed"
BYTES = 8


def make_hidden_seed(solutions: Path) -> bool:
    """Draw the secret of a course, for its owner to read; False where it has one."""
    path = solutions / NAME
    if path.exists():
        return False
    files.write(path, f"{secrets.token_hex(BYTES)}\n".encode(), mode=0o600)
    return True


def hidden_seed(solutions: Path) -> bytes:
    """Return the secret of a course, nothing where no release has drawn it.

    Raises:
        CourseError: the file holds something else.
    """
    path = solutions / NAME
    try:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return b""
    except ValueError:
        told = f"{path} holds no seed of hidden tests. Remove it, and `autograder release` draws one."
        raise CourseError(told) from None

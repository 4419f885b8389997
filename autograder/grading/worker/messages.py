"""What the client, the server, the judge and the student's process tell each other; msgspec makes JSON of it."""

from dataclasses import dataclass
from enum import StrEnum

from autograder.grading.results import Limits

FOLDER_PREFIX = "autograder-"  # of a server's own folder
MAX_MESSAGE_BYTES = 2**16
JOB = b"j"  # what comes with a job's socket
LOADED = b"loaded "  # what a judge tells the server at its end: slow imports that were needed, for those who come after
SECONDS_TO_SPARE = 120.0  # that a judge has beyond its submission's before it is given up


@dataclass(frozen=True)
class ServerReady:
    """The server has warmed up."""

    unenforced: tuple[str, ...] = ()  # what the sandbox cannot enforce on this machine
    error: str = ""  # why the server ends instead; "" as a rule


@dataclass(frozen=True)
class GradingRequest:
    """A submission to grade.

    As bytes follow the lesson, the other files that were handed in, and the submission.
    """

    student: str
    lesson: str
    limits: Limits
    lesson_bytes: int
    other_files_bytes: int = 0


@dataclass(frozen=True)
class StudentRequest:
    """A student's process that a judge asks the server for; its pid and its socket come back."""

    folder: str
    limits: Limits


class Operation(StrEnum):
    """What the judge asks of a student's process, beside what every peer answers."""

    TAKE_FILES = "files"
    RUN_CELL = "cell"
    LOOK_UP_NAMES = "names"
    BIND = "bind"  # a name to a value, or to nothing
    BEGIN_EXERCISE = "begin"  # and then the operation that follows
    END_EXERCISE = "end"  # and then the operation that follows
    ASK = "ask"  # a statement of a check
    CHECK = "check"  # run a check's cell beside the answers

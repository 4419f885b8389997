"""What the client, the server, the judge and the student's process tell each other."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum, StrEnum
from typing import Self

from autograder.grading.results import Limits

FOLDER_PREFIX = "autograder-"  # of a server's own folder
MAX_MESSAGE_BYTES = 2**16
SECONDS_TO_SPARE = 120.0  # that a judge has beyond its submission's before it is given up


class JobKind(Enum):
    """What a job needs of the server; the value is the byte that comes with the job's socket."""

    PLAIN = b"p"
    NEEDS_DYNAMO = b"d"


@dataclass(frozen=True)
class ServerReady:
    """The server has warmed up.

    Attributes:
        unenforced: what the sandbox cannot enforce on this machine.
        error: why the server ends instead; "" as a rule.
    """

    unenforced: tuple[str, ...] = ()
    error: str = ""

    def to_bytes(self) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        fields = json.loads(data)
        return cls(tuple(fields["unenforced"]), fields["error"])


@dataclass(frozen=True)
class GradingRequest:
    """A submission to grade, for the judge; the lesson, as `packed` makes it, and the submission follow as bytes."""

    student: str
    lesson: str
    limits: Limits
    lesson_bytes: int


@dataclass(frozen=True)
class StudentRequest:
    """A student's process that a judge asks the server for; its pid and its socket come back."""

    folder: str
    limits: Limits

    def to_bytes(self) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        fields = json.loads(data)
        return cls(fields["folder"], Limits(**fields["limits"]))


class Operation(StrEnum):
    """What the judge asks of a student's process, beside what every peer answers."""

    RUN_CELL = "cell"
    LOOK_UP_NAMES = "names"
    BEGIN_EXERCISE = "begin"  # and then the operation that follows
    END_EXERCISE = "after"  # and then the operation that follows
    JUDGE_THERE = "ask"

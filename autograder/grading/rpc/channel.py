"""Frames between the judge and a student's process: a header of JSON, then raw bytes; nothing is ever unpickled."""

import json
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

_LENGTHS = struct.Struct(">4sII")
_MAGIC = b"judg"
MOST_HEADER = 8 * 2**20
MOST_BYTES = 256 * 2**20
LEAST_OF_FRAME = 2**16
Header = TypeVar("Header")


class LossReason(StrEnum):
    """Why the other side is lost."""

    CLOSED = "closed"
    LATE = "late"
    MALFORMED = "malformed"


class Lost(BaseException):
    """The other side is lost: it closed, took too long, or says what the protocol does not know.

    No `Exception`, so that no check takes it for an error of the answer.
    """

    def __init__(self, why: LossReason, detail: str = "") -> None:
        super().__init__(f"{why}: {detail}" if detail else why)
        self.why = why


def malformed(what: str) -> Lost:
    """What came is not what the protocol knows."""
    return Lost(LossReason.MALFORMED, what)


def _encoded(header: object) -> bytes:
    """A header as JSON, which knows no numbers but finite ones."""
    try:
        return _ENCODER.encode(header)
    except UnicodeEncodeError:  # half characters, which no file and no database takes, become question marks
        return json.dumps(msgspec.to_builtins(header), ensure_ascii=False).encode("utf-8", "replace")


_ENCODER = msgspec.json.Encoder()


class Channel:
    """One end of a connection that carries frames.

    Attributes:
        received: how many bytes have come in; a frame counts as `LEAST_OF_FRAME` at least.
        deadline: when to give up, on the clock of `time.monotonic`; None for never.
        late: what to do at the deadline: it returns another one, or None to give up.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._read = bytearray()
        self.received = 0
        self.deadline: float | None = None
        self.late: Callable[[], float | None] = lambda: None

    def send(self, header: object, blobs: Sequence[bytes | memoryview] = ()) -> None:
        """Send one frame.

        Raises:
            Lost: the other side is gone, or does not read.
        """
        text = _encoded(header)
        size = sum(len(blob) for blob in blobs)
        if len(text) > MOST_HEADER or size > MOST_BYTES:
            raise malformed("a frame is too large")
        frame = b"".join((_LENGTHS.pack(_MAGIC, len(text), size), text, *blobs))
        view = memoryview(frame)
        while view:
            self._wait(select.POLLOUT)
            try:
                view = view[self._end.send(view) :]
            except OSError as error:
                raise Lost(LossReason.CLOSED, str(error)) from None

    def receive(self, kind: type[Header]) -> tuple[Header, bytearray]:
        """Wait for the next frame and return its header, which has to be of a kind, and its bytes.

        Raises:
            Lost: none came in time, or what came is none.
        """
        magic, length, size = _LENGTHS.unpack(self._exactly(_LENGTHS.size))
        if magic != _MAGIC or length > MOST_HEADER or size > MOST_BYTES:
            raise malformed("no frame")
        text = self._exactly(length)
        blob = self._exactly(size)
        self.received += max(LEAST_OF_FRAME, length + size)
        try:
            return msgspec.json.decode(text, type=kind), blob
        except (ValueError, RecursionError) as error:
            raise malformed(f"no header: {error}") from None

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def _exactly(self, count: int) -> bytearray:
        while len(self._read) < count:
            self._wait(select.POLLIN)
            try:
                piece = self._end.recv(max(2**16, min(count - len(self._read), 2**20)))
            except OSError as error:
                raise Lost(LossReason.CLOSED, str(error)) from None
            if not piece:
                raise Lost(LossReason.CLOSED)
            self._read += piece
        taken = self._read[:count]
        del self._read[:count]
        return taken

    def _wait(self, event: int) -> None:
        if self.deadline is None:
            return
        poll = select.poll()
        poll.register(self._end, event)
        while not poll.poll(max(0.0, self.deadline - time.monotonic()) * 1000):
            self.deadline = self.late()
            if self.deadline is None:
                raise Lost(LossReason.LATE)

"""What every reason and every way through the project keeps to."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_REASON = 600
SECONDS = 5.0  # of processor time, which a busy machine does not stretch


@contextmanager
def soon() -> Iterator[None]:
    """What runs inside takes no longer than a submission may."""
    begin = time.process_time()
    yield
    assert time.process_time() - begin < SECONDS


def require_readable(text: str) -> None:
    """A reason or a note is short, does nothing to a terminal or a file, and tells nothing of the machine."""
    assert text and len(text) <= LONGEST_REASON
    assert text.encode("utf-8") and text.isprintable()
    assert tempfile.gettempdir() not in text

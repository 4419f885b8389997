"""Cells are parsed alike, whatever else goes on."""

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.course.lesson import parse

CELL = "\n".join(f"x{i} = [x + i * 2 for i in range(3)]" for i in range(50))


class Garbage:
    """Python code that runs wherever the collector finds it, and there lets other threads go on."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(20):
            pass


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns, and garbage is collected, as often as can be."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(10)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("restless")
def test_threads_parse_beside_each_other() -> None:
    """Hand-ins are parsed in several threads; Python 3.11's parser alone would lose count of its depth there."""

    def parsed(_: int) -> int:
        for _ in range(20):
            Garbage()
        return len(parse(CELL).body)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parsed, range(160))) == [50] * 160

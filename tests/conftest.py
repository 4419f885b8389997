"""What all tests share: how processes are started, which tests stay together, and one warm process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from autograder.grading.worker.warm import Warm

# Before torch is imported, here and in every process that tests start: on busy machines threads wait for each other
# far longer than these small tensors take.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell starts a job in the background with Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


# What takes longest is begun first, so that both processes are busy to the end.
LONGEST = (
    "tests/test_answers.py",
    "tests/grading/test_grading.py",
    "tests/attacks/",
    "tests/end_to_end/",
    "tests/grading/",
    "solutions/06",
    "solutions/07",
    "tests/export/",
)


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of a file, and the cells of a notebook, in one process of pytest-xdist (`--dist loadgroup`).

    Their fixtures and their kernel are made once. A test that is marked with a group of its own keeps it.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: next(i for i, start in enumerate((*LONGEST, "")) if item.nodeid.startswith(start)))


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """One warm process for all tests of this process that do not need their own."""
    with Warm() as warm:
        yield warm

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file, and the cells of a notebook, in one process of pytest-xdist (`--dist loadgroup`).

    Their fixtures and their kernel are made once. A file whose tests share nothing marks them with groups of its own.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """One warm process for all tests of this process that do not need their own."""
    with Warm() as warm:
        yield warm

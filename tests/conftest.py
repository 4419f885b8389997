"""What all tests share: how processes are started, which tests stay together, and one warm process."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import drawn, proofs

if TYPE_CHECKING:  # what students install has nothing of grading, and runs the tests of what it has
    from playwright.sync_api import Browser
    from xdist.workermanage import WorkerController

    from autograder.grading.worker.client import GradingServer

# Before torch is imported, here and in every process that tests start: on busy machines threads wait for each other
# far longer than these small tensors take.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell starts a job in the background with Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Two processes share the files of `make test`. The longest begin first, so that both are busy to the end.
LONGEST = (
    "tests/test_answers.py",
    "tests/attacks/",
    "tests/grading/test_grading.py",
    "tests/end_to_end/",
    "tests/course/test_update.py",
    "tests/tools/",
    "tests/grading/",
    "tests/fuzz/",
    "tests/export/",
)


def pytest_configure(config: pytest.Config) -> None:
    """Let the process that shares out the tests say which proofs are made."""
    if drawn.WANTED and not hasattr(config, "workerinput"):
        config.pluginmanager.register(proofs.Proofs(config), "proofs")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a process which proofs were made earlier."""
    if run := node.config.pluginmanager.get_plugin("proofs"):
        node.workerinput["earlier"] = sorted(run.earlier)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was proved earlier; where several processes share the tests, put the longest files first."""
    run = config.pluginmanager.get_plugin("proofs")
    earlier = run.earlier if run else set(map(tuple, getattr(config, "workerinput", {}).get("earlier", ())))
    chosen, left_out = [], []
    for item in items:
        what = [(proofs.file_of(item), each) for each in proofs.subjects(item)]
        (left_out if what and earlier.issuperset(what) else chosen).append(item)
        if what:
            item.user_properties.append((proofs.PROVES, what))
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = chosen
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: next(i for i, start in enumerate((*LONGEST, "")) if item.nodeid.startswith(start)))


@pytest.fixture(scope="session")
def warm() -> Iterator[GradingServer]:
    """One warm process for all tests of this process that do not need their own."""
    from autograder.grading.worker.client import GradingServer

    with GradingServer() as warm:
        yield warm


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for a file; playwright keeps an event loop in this thread, so what it shows is to be made before."""
    from support.browser import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def small_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A released course with one lesson of two checks, 3 points and 1; nobody may change it."""
    from support.sample_lesson import make_course

    from autograder.course.release import release  # which imports all of nbgrader

    folder = make_course(tmp_path_factory.mktemp("small") / "course")
    release(folder)
    return folder


@pytest.fixture
def course(small_course: Path, tmp_path: Path) -> Path:
    """That course, the test's own."""
    return Path(shutil.copytree(small_course, tmp_path / "course"))

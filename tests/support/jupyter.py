"""A JupyterLab of the tests' own: all that it keeps stands in one folder, and its end is the end of its kernels."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.processes import with_variable

from autograder.demo.sample_class import ONE_THREAD

PATIENCE = 120.0  # seconds for any single step: two slow cores may be busy with something else
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
NOT_INHERITED = ("IPYTHON", "JUPYTER", "MPL", "PYTEST", "XDG_")  # a person's terminal has other ones, or none


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: where it is, the course it shows, and what it has logged."""

    url: str
    token: str
    course: Path
    log: Path

    def address(self, path: str) -> str:
        """The address of a page, with the token that lets a stranger in."""
        return f"{self.url}{path}?token={self.token}"


@contextmanager
def jupyter_lab(course: Path, home: Path) -> Iterator[Server]:
    """Start JupyterLab in a course, as pages are tested with it, and end it with its kernels.

    Args:
        course: its working directory and the folder it shows.
        home: an empty folder, or one that does not exist yet.
    """
    news = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS), encoding="utf-8")
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={course}"),
        f"--IdentityProvider.token={secrets.token_hex(16)}",
        *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
        "--LabApp.extension_manager=readonly",
    ]
    with started(command, course, home) as server:
        yield server


@contextmanager
def started(command: Sequence[str], course: Path, home: Path) -> Iterator[Server]:
    """Run a command that starts JupyterLab, all that it keeps of its own in `home`; wait until it answers, and end it.

    Args:
        command: the command.
        course: its working directory.
        home: an existing folder.
    """
    private = {
        "HOME": home,
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "TEST_HOME": home,
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_INHERITED)}
    environment = inherited | ONE_THREAD | {name: str(folder) for name, folder in private.items()}
    log = home / "server.log"
    if shutil.which("setpriv"):
        command = ["setpriv", "--pdeathsig", "TERM", *command]  # it ends when the tests are killed
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=course, env=environment, stdout=output, stderr=output)
        try:
            url, token = _listening(process, home / "runtime", log)
            yield Server(url, token, course, log)
        finally:
            _end(process, home)


def _listening(process: subprocess.Popen, runtime: Path, log: Path) -> tuple[str, str]:
    """Wait until the server has written its address and token into its runtime folder, and listens there."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        for file in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(ValueError, OSError):  # it is half written, or nobody listens yet
                about = json.loads(file.read_text(encoding="utf-8"))
                url = about["url"].rstrip("/")
                socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=1).close()
                return url, about["token"]
        time.sleep(0.05)
    pytest.fail(f"JupyterLab did not start. It said:\n{tail(log)}")


def _end(process: subprocess.Popen, home: Path) -> None:
    """End the server, which ends its kernels, and then by force whatever is left of them."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in with_variable("TEST_HOME", home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
    process.kill()
    process.wait()


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def tail(log: Path, lines: int = 30) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

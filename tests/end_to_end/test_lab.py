"""The README's first command opens lesson 1, whoever gives it."""

from __future__ import annotations

import os
import re
import shlex
import urllib.request
from pathlib import Path

import pytest
from support.jupyter import Server, free_port, started
from support.sample_lesson import ROOT

LESSON = "notebooks/00_orientation/00_orientation.ipynb"
NOBODY = 65534
# An ordinary user to JupyterLab, who reads this repository wherever it stands, as its owner would.
AS_NOBODY = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_override", "--ambient-caps=+dac_override"),
]
USERS = ["root", "an ordinary user"] if os.geteuid() == 0 else ["an ordinary user"]


def first_command() -> list[str]:
    """What the README tells students to run on their machine."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return shlex.split(re.search(r"\*\*On your machine\*\*.*?```\n(.*?)\n```", readme, re.DOTALL)[1])


def page(server: Server, path: str) -> tuple[str, str]:
    """Where a request ends that must succeed, and what is there."""
    with urllib.request.urlopen(server.address(path), timeout=60) as answer:
        assert answer.status == 200
        return answer.url, answer.read().decode()


@pytest.mark.parametrize("user", USERS)
def test_the_first_command_opens_lesson_1(user: str, tmp_path: Path) -> None:
    """JupyterLab answers on this machine with lesson 1; to root it says that it runs as root."""
    command = first_command()
    assert command[0] == "make"
    command += ["--assume-old=.venv/ready", f"LAB_FLAGS=--no-browser --ServerApp.port={free_port()}"]
    home = tmp_path / "home"
    home.mkdir()
    if os.geteuid() == 0 and user != "root":
        os.chown(home, NOBODY, NOBODY)
        command = [*AS_NOBODY, *command]
    with started(command, ROOT, home) as server:
        url, html = page(server, "/")
        assert f"/lab/tree/{LESSON}" in url and "JupyterLab" in html
        assert '"type": "notebook"' in page(server, f"/api/contents/{LESSON}")[1]
        assert server.url.startswith(("http://127.0.0.1:", "http://localhost:"))
        log = server.log.read_text(encoding="utf-8")
    assert ("You are root" in log) is (user == "root")

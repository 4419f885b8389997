"""The README's first command opens lesson 0, whoever gives it, with what its user is there for."""

import re
import shlex
import shutil
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.browser import Notebook, chromium, window
from support.jupyter import Server, free_port, started
from support.ordinary_user import NOBODY, USERS, changes, give
from support.sample_lesson import ROOT

LESSON = "notebooks/00_orientation/00_orientation.ipynb"
# An ordinary user to JupyterLab, who reads this repository wherever it stands, as its owner would.
AS_NOBODY = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_override", "--ambient-caps=+dac_override"),
]


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
    """JupyterLab answers on this machine with the first lesson; to root it says that it runs as root."""
    command = first_command()
    assert command[0] == "make"
    command += ["--assume-old=.venv/ready", f"LAB_FLAGS=--no-browser --ServerApp.port={free_port()}"]
    home = tmp_path / "home"
    home.mkdir()
    give(home, user)
    if changes(user):
        command = [*AS_NOBODY, *command]
    with started(command, ROOT, home) as server:
        url, html = page(server, "/")
        assert f"/lab/tree/{LESSON}" in url and "JupyterLab" in html
        assert '"type": "notebook"' in page(server, f"/api/contents/{LESSON}")[1]
        assert server.url.startswith(("http://127.0.0.1:", "http://localhost:"))
        log = server.log.read_text(encoding="utf-8")
    assert ("You are root" in log) is (user == "root")


@pytest.mark.parametrize("options", [[], ["INSTRUCTOR=1"]], ids=["learner", "instructor"])
def test_nbgrader_and_news_are_for_instructors(options: list[str], tmp_path: Path) -> None:
    """`make lab` shows a learner the lesson and nothing else; with INSTRUCTOR=1 all that nbgrader brings is there."""
    course = tmp_path / "course"
    shutil.copytree(ROOT / Path(LESSON).parent, course / Path(LESSON).parent)
    shutil.copytree(ROOT / "tools" / "learner", course / "tools" / "learner")
    (tmp_path / "home").mkdir()
    command = ["make", f"--makefile={ROOT}/Makefile", "lab", *options, f"VENV={ROOT}/.venv"]
    command += [f"--assume-old={ROOT}/.venv/ready", f"LAB_FLAGS=--no-browser --ServerApp.port={free_port()}"]
    with (
        started(command, course, tmp_path / "home") as server,
        chromium() as browser,
        window(browser, "lab", server) as seen,
    ):
        page = Notebook(seen, server, LESSON).page
        expect(page.get_by_text("| Idle")).to_be_visible()  # all that opens by itself has opened
        for brought_by_nbgrader_or_news in (
            page.locator("#jp-MainMenu").get_by_text("Nbgrader", exact=True),
            page.get_by_role("button", name="Validate"),
            page.get_by_role("tab", name="Create Assignment"),
            page.get_by_text("official Jupyter news"),
        ):
            expect(brought_by_nbgrader_or_news).to_have_count(len(options))

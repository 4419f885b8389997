"""What the tests of courses share: git as nobody has set it up."""

import os

import pytest

WHO = {"NAME": "Ada", "EMAIL": "ada@example.org"}


@pytest.fixture(autouse=True)
def nobodys_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git has nobody's settings, and knows who commits."""
    for name in filter(lambda name: name.startswith("GIT_"), [*os.environ]):
        monkeypatch.delenv(name)
    who = {f"GIT_{role}_{what}": text for role in ("AUTHOR", "COMMITTER") for what, text in WHO.items()}
    for name, text in {**who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, text)

"""Whoever collects does so in the course around the current folder."""

from pathlib import Path

import pytest


@pytest.fixture
def course(course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small course, which is the current folder."""
    monkeypatch.chdir(course)
    return course

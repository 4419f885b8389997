"""Commands as somebody types them in the current folder."""

import pytest

from autograder import cli


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """Run a command that has to end with this status, and return what it prints: on standard error where it fails."""
    capsys.readouterr()
    assert cli.main([*arguments]) == status
    said = capsys.readouterr()
    return said.err if status else said.out

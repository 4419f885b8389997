"""A learner's notebook in a folder of its own, outside of any test's and nbgrader's run."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.classroom import run

from autograder import check, yours
from autograder.check import _progress
from autograder.yours import reader
from autograder.yours.keeper import Keeper


class Notebook:
    """The cells of a notebook that have run, as IPython remembers them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder.parent / "my_transformer.py"
        self.scope: dict = {"__name__": "__main__", "In": [""]}
        self.run("import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n")

    def run(self, cell: str) -> None:
        self.scope["In"].append(cell)
        run(cell, f"in {len(self.scope['In'])}", self.scope)

    def pass_checks(self, exercise: str, *rules: str, of: int | None = None) -> None:
        """Let checks of an exercise pass, of so many; of as many as there are rules when left out."""
        check.lesson({"4.1 LayerNorm": 1, exercise: of or len(rules)})
        for rule in rules:
            yours.passed(exercise, rule, _progress.exercises(), self.scope)

    def solve(self, cell: str, exercise: str = "1.4 causal_mask") -> None:
        """Run an answer and let its one check pass."""
        self.run(cell)
        self.pass_checks(exercise, "values")

    @property
    def kept(self) -> str:
        """What stands in the file."""
        return self.file.read_text(encoding="utf-8") if self.file.is_file() else ""


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """Lesson 1 of a course folder, opened by a person, with nothing kept yet."""
    for name in ("PYTEST_VERSION", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_progress, "_session", _progress.Session())
    monkeypatch.setattr(yours, "_keeper", Keeper())
    monkeypatch.setattr(yours, "_passed_since", {})
    monkeypatch.setattr(reader, "_besides", {})
    folder = tmp_path / "course" / "01_attention"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return Notebook(folder)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What has been printed since it was last asked."""
    return lambda: capsys.readouterr().out

"""Where a learner's own files are: beside the lessons, or on their Drive."""

import os
import re
import sys
from pathlib import Path

FILE, WEIGHTS = "my_transformer.py", "my_transformer.pt"
TRANSLATOR, WRITER = "my_translator.pt", "my_gpt.pt"
DRIVE = Path("/content/drive/MyDrive")
_LESSON = re.compile(r"\d\d_\w+")


def is_used() -> bool:
    """Whether anything is kept or taken: not while nbgrader or a test runs the notebook, and not in solutions/."""
    by_a_program = "NBGRADER_EXECUTION" in os.environ or "PYTEST_VERSION" in os.environ
    return not by_a_program and folder().name != "solutions"


def folder() -> Path:
    """Where files are kept: beside the folders of the lessons, or on Colab the learner's Drive when it is mounted."""
    here = Path.cwd()
    if on_colab() and DRIVE.is_dir():
        return DRIVE / "my_transformer"
    return here.parent if _LESSON.fullmatch(here.name) else here


def found(name: str) -> Path | None:
    """The file of that name which is used: where files are kept, else in the notebook's own folder."""
    return next(iter(copies(name)), None)


def copies(name: str) -> list[Path]:
    """All files of that name that a notebook could mean, the one that is used first."""
    return [path for path in dict.fromkeys((folder() / name, Path.cwd() / name)) if path.is_file()]


def on_colab() -> bool:
    return "google.colab" in sys.modules


def will_be_lost() -> bool:
    """On Colab without a Drive, the files go with the machine."""
    return on_colab() and not DRIVE.is_dir()

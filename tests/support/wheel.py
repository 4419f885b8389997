"""What `pip wheel .` makes of a checkout, made here without a network."""

import shutil
import subprocess
import sys
from pathlib import Path

from support.sample_lesson import ROOT

ENGINE = "tools/engine"  # the folder of the project that is the engine alone
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def checkout(folder: Path) -> Path:
    """Copy what students get, package and lessons, and return the copy."""
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in ("autograder", "notebooks", ENGINE):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def build(folder: Path, project: str = "") -> Path:
    """Build the wheel of this checkout, or of a project in it, in a folder, and return its file."""
    source = checkout(folder / "source") / project
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=source, capture_output=True, check=True)
    (path,) = folder.glob("*.whl")
    return path

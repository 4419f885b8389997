"""`autograder start`: the lessons in a folder of somebody's own, and a try of all that they need."""

import pkgutil
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import files as installed_files
from importlib.util import find_spec
from pathlib import Path

from autograder import files, lessons
from autograder.version import DISTRIBUTION, installed, released


def start(folder: Path) -> int:
    """Lay the lessons into a folder, try the installation, and say what opens JupyterLab; return the exit status."""
    names, kept = lay(folder)
    if not names:
        print(f"✗ This installation of {DISTRIBUTION} holds no lessons. Ask who gave it to you for a whole one.")
        return 1
    print(f"✓ {len(names)} lessons are in {folder.absolute()}")
    if kept:
        print(f"  Left as they were, since they may be yours: {', '.join(kept)}")
    print(f"✓ Python {platform.python_version()}")
    try:
        for line in _tried():
            print(f"✓ {line}")
    except Exception as error:  # of what somebody's machine lacks, which may be anything
        print(f"✗ {type(error).__name__}: {error}")
        print("  The lessons need it. PyTorch's own page says how that is installed on your system.")
        return 1
    print(_next(folder))
    return 0


def lay(folder: Path) -> tuple[list[str], list[str]]:
    """Put each lesson into a folder of its name, and what assistants read beside them; overwrite nothing.

    Returns:
        the names of all lessons, and of the files that were there already and are others than these.
    """
    names, kept = [], []
    for source in _sources():
        name, place = (source.stem, folder / source.stem) if source.suffix == ".ipynb" else ("", folder)
        names += [name] * bool(name)
        place.mkdir(parents=True, exist_ok=True)
        try:
            with files.create(target := place / source.name) as file:
                file.write(source.read_bytes())
        except FileExistsError:
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                kept.append(name or source.name)
    return names, kept


def _sources() -> list[Path]:
    """What release wrote, of the checkout that this is or else as the wheel brought it."""
    brought = (installed_files(DISTRIBUTION) if installed() else None) or ()
    found = released() or [Path(str(file.locate())) for file in brought if DISTRIBUTION in file.parts]
    return sorted(found, key=lambda path: path.name)


def _tried() -> Iterator[str]:
    """What works, as it is tried: PyTorch, and what the lessons themselves bring to be tried."""
    import torch

    yield f"PyTorch {torch.__version__}"
    for name in lessons.installed().sample:
        yield f"A right answer passes its check, and a wrong one is told: {pkgutil.resolve_name(name)()}"


def _next(folder: Path) -> str:
    """What to type next, with the names that this terminal knows; on Windows, too."""
    if find_spec("jupyterlab") is None:
        what = f'{_typed("python")} -m pip install "{DISTRIBUTION}[lab]"'
        return f"JupyterLab is not installed here. Install it, and run this again:\n\n    {what}\n"
    return f"Now open them, and begin with lesson 0:\n\n    {_typed('jupyter')} lab {_quoted(str(folder))}\n"


def _typed(program: str) -> str:
    """A program, by its name alone unless that finds another than the one beside this Python."""
    beside = shutil.which(program, path=str(Path(sys.executable).parent))
    return program if beside in (None, shutil.which(program)) else _quoted(str(beside))


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text

"""The version of this package: a number that people set, and a digest of what students install.

So pip takes a package that was corrected for another one. setuptools reads it when it builds a wheel.
"""

import hashlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NUMBER, PACKAGE = "0.1.0", Path(__file__).parent
# With the lessons of this repository, or the engine alone (tools/engine/pyproject.toml).
DISTRIBUTION = "transformer-from-scratch" if (PACKAGE / "transformer").is_dir() else "notebook-autograder"


def released() -> list[Path]:
    """The lessons of the checkout that this package stands in, and what assistants read; a wheel brings them, too."""
    folder = PACKAGE.parent / "notebooks"
    return [*folder.glob("*/*.ipynb"), *folder.glob("*.md")]


def modules() -> Iterator[Path]:
    """The files of the package, those of the demo excepted, which stay in the checkout."""
    for path in sorted(PACKAGE.rglob("*")):
        parts = path.relative_to(PACKAGE).parts
        if path.is_file() and parts[0] != "demo" and "__pycache__" not in parts and not path.name.startswith("."):
            yield path


def _digest() -> str:
    whole = hashlib.sha256()
    for path in (*sorted(released()), *modules()):
        for part in (path.relative_to(PACKAGE.parent).as_posix().encode(), path.read_bytes()):
            whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:8]


def installed() -> str:
    """Return the version of the package that is installed; "" where this one is only on the path."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return ""


VERSION = f"{NUMBER}+{_digest()}"  # a local version label, as PEP 440 has it

"""The zip file that is uploaded to Gradescope: its two scripts, one lesson, and this package; that of Classroom 50."""

import io
import json
import zipfile
from pathlib import Path

from traitlets.config import Config

from autograder.course.config import CourseError
from autograder.course.hidden_seed import NAME as SEED_FILE
from autograder.course.hidden_seed import hidden_seed
from autograder.grading.jobs import prepared
from autograder.version import PACKAGE, modules

SCRIPTS = ("setup.sh", "run_autograder")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can name
PARTS = ("pyproject.toml", "README.md", "LICENSE")


def bundle(root: Path, source: Path, config: Config | None = None) -> bytes:
    """Make the zip file; the same course makes the same bytes.

    Args:
        root: the course folder, with requirements.txt in it, or a copy of one without.
        source: the lesson's notebook, hidden tests included; of the plain form, where there may be several, one.
        config: of a course of the plain form.

    Raises:
        CourseError: something that belongs in it is missing.
    """
    try:
        lesson, secret = prepared(source, config), hidden_seed(source.parent.parent)
    except CourseError as error:
        raise CourseError(f"{source}: {error}") from None
    files = {_place(source): lesson} | ({f"lesson/{SEED_FILE}": secret.hex().encode()} if secret else {})
    return _packed(_shared(root) | files)


def for_classroom50(root: Path, released: Path, config: Config | None = None) -> bytes:
    """Make the zip file for Classroom 50, which publishes it: with the students' notebook, and nothing hidden.

    Args:
        root: the course folder, with requirements.txt in it, or a copy of one without.
        released: the students' notebook; of the plain form, where there may be several, one.
        config: of a course of the plain form.

    Raises:
        CourseError: something that belongs in it is missing, or a check has half a point, which the form cannot hold.
    """
    cells = json.loads(lesson := prepared(released, config))["cells"]
    nbgrader = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    if odd := [each["grade_id"] for each in nbgrader if each.get("points", 0) % 1]:
        raise CourseError(f"Classroom 50 counts in whole points. Give whole ones to {', '.join(odd)}.")
    script = (PACKAGE / "export" / "classroom50.py").read_bytes()
    return _packed(_shared(root) | {_place(released): lesson, "autograder.py": script})


def _place(notebook: Path) -> str:
    """The file of a lesson, which is one there, as it is within the engine."""
    return f"lesson/{notebook.parent.name}.ipynb"


def _shared(root: Path) -> dict[str, bytes]:
    """Return the files, by their names, that are the same for every lesson."""
    home = _home(root)
    files = {name: (PACKAGE / "export" / "gradescope" / name).read_bytes() for name in SCRIPTS}
    files |= {f"package/{name}": (home / name).read_bytes() for name in PARTS}
    files |= {f"package/autograder/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes() for path in modules()}
    return files | {"constraints.txt": _constraints(home / "requirements.txt")}


def _packed(files: dict[str, bytes]) -> bytes:
    """Return a zip file of these, the same whenever it is made."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED  # Unix, whose modes Gradescope keeps
            entry.external_attr = (0o100755 if name in SCRIPTS else 0o100644) << 16
            target.writestr(entry, files[name], compresslevel=9)
    return archive.getvalue()


def _home(root: Path) -> Path:
    """Return the folder that this package is installed from: the course, or the checkout behind a copy of it."""
    files = (*PARTS, "requirements.txt")
    for folder in (root, PACKAGE.parent):
        if all((folder / name).is_file() for name in files):
            return folder
    raise CourseError(
        f"Neither {root} nor {PACKAGE.parent} holds {', '.join(files)}, which the container needs. "
        "Run this in a full copy of the course."
    )


def _constraints(path: Path) -> bytes:
    """Return the versions of requirements.txt; they bind whatever of them is installed."""
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    pinned = [line for line in lines if line and not line.startswith("-") and "[" not in line]
    return ("\n".join(["# Made from requirements.txt.", *pinned]) + "\n").encode()

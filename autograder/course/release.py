"""From solutions/ to notebooks/: normalise the source, strip it with nbgrader's own generator, overwrite nobody's work.

Everything is worked out in memory and in a temporary folder first; files are written when nothing speaks against it.
"""

import copy
import hashlib
import json
import logging
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from pathlib import Path

import nbformat
import nbgrader.api
from alembic.script import ScriptDirectory
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode
from nbformat.warnings import MissingIDFieldWarning
from nbgrader.converters import GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from nbgrader.utils import compute_checksum
from traitlets.config import Config

from autograder import files
from autograder.course import assistants, lint, plain
from autograder.course.address import NOWHERE, Address, read_address, without_address
from autograder.course.config import NO_LESSON, CourseError, read_lessons, read_notebook, readme, to_bytes
from autograder.course.hidden_seed import NAME as SEED_FILE
from autograder.course.hidden_seed import make_hidden_seed
from autograder.course.lesson import Lesson, cell_id, cells_of, rules_of
from autograder.course.manifest import NAME, Manifest, was_ever_released
from autograder.course.paths import Course
from autograder.course.versions import released
from autograder.course.written import asked

JOIN_STREAMS = CoalesceStreamsPreprocessor()
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
KEPT_METADATA = ("deletable", "editable", "nbgrader", "slideshow", "tags")
MOST_MESSAGES = 10_000  # of nbgrader's errors that are kept until somebody needs to read them
NBGRADER_CHATTER = ("There was an error processing", "Please see the")
DEFAULTS: tuple[object, ...] = ([], {}, True, {"slide_type": ""})
REFUSAL = (
    "{} is not as release wrote it: somebody worked in it, or it came from elsewhere. "
    "Move it away, or run `autograder release --force`, which keeps a copy beside it."
)
LEFT_ALONE = "{}: left alone, though its lesson is gone: somebody worked in it. Move it away when nobody needs it."
SETUP_METADATA = {"grade": False, "grade_id": "setup", "locked": True, "solution": False}


class NotRecorded(CourseError):
    """The gradebook does not take a lesson."""

    def __init__(self, text: str, lesson: str) -> None:
        super().__init__(text)
        self.lesson = lesson


@dataclass(frozen=True)
class Change:
    """A file that differs from what it should be; without data it should not exist."""

    path: Path
    data: bytes | None

    @property
    def verb(self) -> str:
        return "removed" if self.data is None else "changed" if self.path.exists() else "added"


@dataclass(frozen=True)
class Plan:
    """What a release would do to the course's files."""

    changes: list[Change]
    edited: list[Path]
    left: list[Path]


def release(root: Path, *, check: bool = False, force: bool = False, register: bool = True) -> list[str]:
    """Bring notebooks/, the README's table and the gradebook in line with solutions/; return a line per change.

    Args:
        check: Only say what would change.
        force: Overwrite notebooks that somebody worked in, after keeping a copy beside them.
        register: Tell the gradebook about the lessons, so that `nbgrader autograde` knows them.

    Raises:
        CourseError: With nothing written, when a lesson breaks the grammar or a file is not ours to overwrite.
    """
    course = Course.at(root)
    root = course.root
    if not course.is_plain and not (root / "solutions").is_dir():
        raise CourseError(NO_LESSON)
    draft = _plain_draft(course) if course.is_plain else _draft(course, look_up=not check)
    plan = make_plan(root, draft)
    if plan.edited and not force:
        raise CourseError("\n".join(REFUSAL.format(path.relative_to(root).as_posix()) for path in plan.edited))
    would_be = "would be " if check else ""
    lines = [f"{change.path.relative_to(root).as_posix()}: {would_be}{change.verb}" for change in plan.changes]
    lines += [LEFT_ALONE.format(path.relative_to(root).as_posix()) for path in plan.left]
    if check:
        return lines
    if not course.is_plain and make_hidden_seed(root / "solutions"):
        lines.append(f"solutions/{SEED_FILE}: drawn, for the hidden tests")
    if register:
        draft.generate(course.db_url)
    for path in plan.edited:
        lines.append(f"{_keep_copy(path).relative_to(root).as_posix()}: a copy of what somebody worked in")
    for change in plan.changes:
        _apply(change)
    return lines


@dataclass(frozen=True)
class Draft:
    """What a release comes to."""

    sources: dict[Path, bytes]  # what it writes beside the lessons, and into them
    released: dict[str, bytes]  # what students get, by its path in the release folder
    # makes the lessons' part of that, and with a database's address records them there
    generate: Callable[[str | None], object]
    table: bytes | None = None
    address: Address = NOWHERE
    folder: str = "notebooks"


def _draft(course: Course, *, look_up: bool) -> Draft:
    """Bring the lessons of a course in form, and make what students get."""
    root, address = course.root, read_address(course.root, look_up=look_up)
    lessons = read_lessons(root)
    for name, notebook in lessons.items():
        fill_in(notebook, name, course.config.get("Autograder", {}).get("cells", {}))
        normalise(notebook)
    folder = root / "solutions"
    sources = {folder / name / f"{name}.ipynb": to_bytes(notebook) for name, notebook in lessons.items()}
    sources[folder / released.NAME] = released.updated(folder, lessons)
    for_students = {name: asked(notebook, course.config) for name, notebook in lessons.items()}
    generated = generate(for_students, course.config, address)
    notebooks = {f"{name}/{name}.ipynb": data for name, data in generated.items()}
    texts = assistants.files_for((Lesson(name, notebook) for name, notebook in lessons.items()), course.config)
    return Draft(
        sources | assistants.switches(root, course.config),
        notebooks | texts,
        lambda database: generate(for_students, course.config, address, database),
        readme(root, lessons, address.badge),
        address,
    )


def _plain_draft(course: Course) -> Draft:
    """Make what students get of a course of the plain form, whose own files stay as they are."""
    source = course.root / str(course.directory.source_directory)
    lessons = plain.read_plain_lessons(source, course.config)

    def make(database: str | None) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for name, notebook in lessons.items():
            found |= generate_plain(name, notebook, source / name, course.config, database)
        return found

    digests = {source / released.NAME: released.updated(source, lessons)}
    return Draft(digests, make(None), make, folder=str(course.directory.release_directory))


def generate_plain(
    lesson: str, notebook: NotebookNode, source: Path, config: Config, database: str | None
) -> dict[str, bytes]:
    """Return the student version of a lesson of the plain form, with its data files, made by nbgrader."""
    settings = copy.deepcopy(config)
    for name, path in plain.header_of(source.parents[1], config).items():
        settings.IncludeHeaderFooter[name] = str(path)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "solutions", lesson)
        copied.mkdir(parents=True)
        for path in plain.notebooks_in(source):
            shutil.copy(path, copied)
        _run_nbgrader(folder, lesson, settings, database, place=f"{source.parent.name}/{lesson}")
        made = Path(folder, "notebooks", lesson)
        found = {f"{lesson}/{name}": path.read_bytes() for name, path in plain.data_in(source).items()}
        for name, part in plain.split(copy.deepcopy(notebook), lesson).items():
            own = read_notebook(made / f"{name}.ipynb")
            own.nbformat_minor = 5
            for cell, known in zip(own.cells, part.cells, strict=True):
                cell.id = known.id
            found[f"{lesson}/{name}.ipynb"] = to_bytes(own)
        return found


def fill_in(notebook: NotebookNode, lesson: str, same: Mapping[str, str]) -> None:
    """Put its exercises, and the cells that are the same in all lessons, into a source; take the address out."""
    title, setup = notebook.cells[:2]
    sources = {lint.EXERCISES: exercises_of(Lesson(lesson, notebook)), **same}
    title.source = without_address(title.source)
    setup.metadata["nbgrader"] = SETUP_METADATA
    setup.metadata["tags"] = sorted({*setup.metadata.get("tags", []), "nbval-ignore-output"})
    for cell in notebook.cells:
        cell.source = sources.get(cell_id(cell), cell.source)
        for key in ("checksum", "cell_type"):
            cell.metadata.get("nbgrader", {}).pop(key, None)


def exercises_of(lesson: Lesson) -> str:
    """The source of the cell that names the exercises, each with the number of checks that students see."""
    checks = (check for exercise in lesson.exercises for check in exercise.checks)
    counts = Counter(rule.exercise for check in checks for rule in rules_of(check.visible))
    lines = [f"        {json.dumps(name, ensure_ascii=False)}: {count}," for name, count in counts.items()]
    call = "\n".join(["check.lesson(", "    {", *lines, "    }", ")"]) if lines else "check.lesson({})"
    return f"# @title The exercises of this lesson, and how many checks each has: run this, too\n{call}"


def normalise(notebook: NotebookNode) -> None:
    """Remove what changes from one save or run to the next and says nothing about the lesson."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    own = {plain.KEY: notebook.metadata[plain.KEY]} if plain.KEY in notebook.metadata else {}
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}, **own})
    was_run = any(cell.get("outputs") for cell in notebook.cells)
    count = 0
    for cell in notebook.cells:
        cell.id = cell_id(cell)
        kept = {key: value for key, value in cell.metadata.items() if key in KEPT_METADATA and value not in DEFAULTS}
        cell.metadata = nbformat.from_dict(kept)
        if cell.metadata.get("nbgrader"):
            flags = {"grade": False, "locked": False, "solution": False, "task": False}
            cell.metadata.nbgrader = {**flags, **cell.metadata.nbgrader, "schema_version": 3}
        if cell.cell_type != "code":
            continue
        # Counting every cell with a source gives the numbers of one run from top to bottom, whatever prints.
        count += bool(cell.source.strip())
        cell.execution_count = count if was_run and cell.source.strip() else None
        cell, _ = JOIN_STREAMS.preprocess_cell(cell, {}, 0)  # how prints fall into pieces depends on timing
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
            if "metadata" in output:
                output.metadata = {key: value for key, value in output.metadata.items() if "/" in key}


def fold(notebook: NotebookNode, checks: Mapping[str, str]) -> None:
    """Fold code that begins with a title, and the checks, id → source for students, in JupyterLab and on Colab."""
    for cell in notebook.cells:
        name = cell_id(cell)
        cell.source = checks.get(name, cell.source)
        if name in checks or (cell.cell_type == "code" and released.TITLE.match(cell.source)):
            cell.metadata |= {"cellView": "form", "jupyter": {"source_hidden": True}}
        if name in checks:
            cell.metadata.nbgrader.checksum = compute_checksum(cell)


def generate(
    sources: dict[str, NotebookNode], config: Config, address: Address, database: str | None = None
) -> dict[str, bytes]:
    """Return the student version of each lesson, made by nbgrader; with a database, record the lessons there."""
    with tempfile.TemporaryDirectory() as folder:
        generated = {}
        for lesson, source in sources.items():
            path = Path(folder, "solutions", lesson, f"{lesson}.ipynb")
            path.parent.mkdir(parents=True)
            path.write_bytes(to_bytes(source))
            _run_nbgrader(folder, lesson, config, database, place=f"solutions/{lesson}/{lesson}.ipynb")
            notebook = read_notebook(Path(folder, "notebooks", lesson, path.name))
            normalise(notebook)
            notebook.metadata.pop(plain.KEY, None)
            checks = (cell for cell in cells_of(source) if cell.is_graded and not cell.is_answer)
            fold(notebook, {check.id: check.released for check in checks})
            address.put_into(notebook, lesson)
            generated[lesson] = to_bytes(notebook)
        return generated


def _run_nbgrader(folder: str, lesson: str, config: Config, database: str | None, *, place: str) -> None:
    settings = copy.deepcopy(config)
    places = {"root": folder, "source_directory": "solutions", "release_directory": "notebooks"}
    settings.CourseDirectory.update({**places, "assignment_id": lesson, "db_url": database or ""})
    settings.GenerateAssignment.no_database = not database
    settings.SaveCells.enabled = bool(database)
    # The version of a new gradebook's tables; to learn it nbgrader starts a program, which takes a second or two.
    nbgrader.api.get_alembic_version = lambda: str(ScriptDirectory(ALEMBIC_DIR).get_current_head())
    log, kept = logging.Logger("autograder.release", logging.ERROR), BufferingHandler(MOST_MESSAGES)
    log.addHandler(kept)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingIDFieldWarning)  # a header of format 4.0 around a notebook of 4.5
            GenerateAssignment(CourseDirectory(config=settings, log=log), config=settings, log=log).start()
    except NbGraderException as error:
        texts = (record.getMessage().strip() for record in kept.buffer)
        lines = (text.splitlines()[-1] if "Traceback (most recent call last)" in text else text for text in texts)
        message = "\n".join(line for line in lines if not line.startswith(NBGRADER_CHATTER)) or str(error)
        if database:
            advice = "Undo the change until grading is over, or move the gradebook away to begin a new one."
            text = f"{place}: nbgrader could not record it in the gradebook. {advice} It says:\n{message}"
            raise NotRecorded(text, lesson) from error
        text = f"{place}: nbgrader could not make the student version. Mend the lesson. It says:\n{message}"
        raise CourseError(text) from error


def make_plan(root: Path, draft: Draft) -> Plan:
    """Compare what should be with what is, and tell generated files from edited ones."""
    digests, generated = Manifest.read(root, draft.folder).files, draft.released
    folder = root / draft.folder
    plan = Plan([], [], [])
    contents = draft.sources | {folder / name: data for name, data in generated.items()}
    for name, data in generated.items():
        path = folder / name
        if (
            path.exists()
            and not _is_released(path, digests.get(name))
            and _written(path.read_bytes()) != _written(data)
            and not was_ever_released(root, _written(path.read_bytes()))
        ):
            plan.edited.append(path)
    for name in sorted(digests.keys() - generated.keys()):
        path = folder / name
        if path.exists() and _is_released(path, digests[name]):
            plan.changes.append(Change(path, None))
        elif path.exists():
            plan.left.append(path)
    listed = {name: _written(data) for name, data in generated.items()}
    contents[folder / NAME] = Manifest(listed, draft.address.repository).to_bytes()
    if draft.table is not None:
        contents[root / "README.md"] = draft.table
    plan.changes.extend(
        Change(path, data) for path, data in contents.items() if not path.exists() or _differs(path, data)
    )
    return plan


def _is_released(path: Path, digest: str | None) -> bool:
    """Whether nobody has written anything in a notebook since it was released; earlier versions noted all its bytes."""
    data = path.read_bytes()
    return digest in (_written(data), hashlib.sha256(data).hexdigest())


def _written(data: bytes) -> str:
    """A digest of what somebody may have written in a notebook.

    Outputs of a run, what an editor adds when it is opened, and the titles of checks, which nbgrader's own Generate
    leaves out, do not count.
    """
    try:
        cells = [(kind, released.TITLE.sub("", source.rstrip())) for kind, source, *_ in _cells(data)]
        data = json.dumps(cells).encode()
    except (ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError):
        pass  # a data file
    return hashlib.sha256(data).hexdigest()


def _differs(path: Path, data: bytes) -> bool:
    """Whether a file is another one, a notebook by its cells: what an editor adds to the whole says nothing."""
    there = path.read_bytes()
    if path.suffix != ".ipynb" or there == data:
        return there != data
    try:
        return _cells(there) != _cells(data)
    except (ValueError, AttributeError, nbformat.ValidationError):
        return True


def _cells(data: bytes) -> list[tuple[str, str, object, object, object]]:
    return [
        (cell.cell_type, cell.source, cell.get("id"), cell.metadata, cell.get("outputs"))
        for cell in nbformat.reads(data.decode(), as_version=4).cells
    ]


def _keep_copy(path: Path) -> Path:
    """Copy a file beside itself under a name that is free."""
    kept, count = path.with_name(f"{path.stem}.before-release{path.suffix}"), 1
    while kept.exists():
        count += 1
        kept = path.with_name(f"{path.stem}.before-release-{count}{path.suffix}")
    return Path(shutil.copy2(path, kept))


def _apply(change: Change) -> None:
    """Write or remove one file, never leaving half of it."""
    if change.data is None:
        change.path.unlink()
        if not any(change.path.parent.iterdir()):
            change.path.parent.rmdir()
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    files.write(change.path, change.data)

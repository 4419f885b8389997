"""A course's folders and files: the one place that knows where nbgrader keeps what."""

import itertools
import os
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Self

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder import files
from autograder.course.config import CourseError, load_config
from autograder.course.names import did_you_mean
from autograder.course.plain import is_plain, notebooks_in

MOST_SEEN = 100_000  # files in submitted/ among which notebooks in no lesson's folder are looked for
REPLACED = ".replaced"  # in submitted/: what later hand-ins took the place of
ANY_STUDENT, ANY_LESSON = "any-student", "any-lesson"


class Course:
    """A course as its nbgrader_config.py has it; `directory` is nbgrader's own view of it."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.directory = CourseDirectory(config=config)
        self.root = Path(self.directory.root)

    @classmethod
    def at(cls, root: Path) -> Self:
        """Read the configuration of the course in a folder.

        Raises:
            CourseError: it does not run.
        """
        config = load_config(root)
        config.CourseDirectory.setdefault("root", str(root.resolve()))
        return cls(config)

    @property
    def name(self) -> str:
        """What nbgrader calls the course, or the name of its folder."""
        return self.directory.course_id or self.root.name

    @property
    def db_url(self) -> str:
        """The address of the gradebook."""
        return str(self.directory.db_url)

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is written as plain nbgrader."""
        return is_plain(self.config)

    @property
    def is_shared(self) -> bool:
        """Whether a group shares its files."""
        return bool(self.directory.groupshared)

    def source(self, lesson: str) -> Path:
        """The notebook of a lesson, hidden tests included; of the plain form, where there may be several, the first."""
        path = self._folder(self.directory.source_directory, ".", lesson) / f"{lesson}.ipynb"
        return next(iter(notebooks_in(path.parent)), path) if self.is_plain else path

    def released(self, lesson: str) -> Path:
        """The folder of a lesson as students get it."""
        return self._folder(self.directory.release_directory, ".", lesson)

    @property
    def all_submitted(self) -> Path:
        """The folder of all submissions."""
        return self.root / str(self.directory.submitted_directory)

    def submitted(self, student: str, lesson: str) -> Path:
        """The folder of a submission."""
        return self._folder(self.directory.submitted_directory, student, lesson)

    def replaced(self, student: str, lesson: str) -> Path:
        """The folder of the earlier hand-ins of a submission, each in one of a number that grows."""
        return self.all_submitted / REPLACED / student / lesson

    def autograded(self, student: str, lesson: str) -> Path:
        """The folder of a graded submission."""
        return self._folder(self.directory.autograded_directory, student, lesson)

    def graded_notebook(self, student: str, lesson: str) -> Path:
        """The graded notebook of a submission."""
        return self.autograded(student, lesson) / f"{lesson}.ipynb"

    def graded_notebooks(self, student: str, lesson: str) -> list[Path]:
        """The graded notebooks of a submission; in the plain form there may be several."""
        path = self.graded_notebook(student, lesson)
        return (notebooks_in(path.parent) or [path]) if self.is_plain else [path]

    def feedback(self, student: str, lesson: str) -> Path:
        """The folder of the feedback on a submission."""
        return self._folder(self.directory.feedback_directory, student, lesson)

    def _folder(self, step: str, student: str, lesson: str) -> Path:
        return Path(self.directory.format_path(step, student, lesson))

    def folders_of(self, student: str) -> list[Path]:
        """The folders in submitted/, autograded/ and feedback/ that are a student's alone, as far as they exist."""
        if not is_folder_name(student):
            return []  # the gradebook takes any id
        found: list[Path] = []
        for folder in (self.submitted, self.autograded, self.feedback):
            whole = folder(ANY_STUDENT, ANY_LESSON)
            above = next(path for path in (whole, *whole.parents) if ANY_LESSON not in str(path))
            is_own = above.name == ANY_STUDENT
            found += [above.with_name(student)] if is_own else (folder(student, name) for name in self.lessons())
        return [path for path in found if os.path.lexists(path)]

    def secrets(self) -> list[Path]:
        """What no submission may read."""
        steps = (getattr(self.directory, f"{step}_directory") for step in ("source", "submitted", "autograded"))
        return [*(self.root / step for step in steps), self.root / "gradebook.db"]

    def sources(self) -> list[Path]:
        """The notebook of each lesson, hidden tests included."""
        found = sorted(self.root.glob(f"{self.directory.source_directory}/*/*.ipynb"), key=lambda path: path.stem)
        folders = sorted({path.parent for path in found})
        return [notebooks_in(folder)[0] for folder in folders] if self.is_plain else found

    def lessons(self) -> list[str]:
        """The names of the lessons."""
        return [path.parent.name for path in self.sources()]

    def choose_lessons(self, names: Sequence[str]) -> list[str]:
        """The lessons of these names; where there are none, those that somebody handed in.

        Raises:
            CourseError: one of the names is none of the course's.
        """
        lessons = self.lessons()
        if unknown := [name for name in names if name not in lessons]:
            hint = did_you_mean(unknown, lessons)
            raise CourseError(f"There is no lesson {', '.join(unknown)}. There are {', '.join(lessons)}.{hint}")
        return list(names) or [lesson for lesson in lessons if self.students(lesson)]

    def students(self, lesson: str, pattern: str = "*") -> list[str]:
        """Who handed in a lesson, of those whose names fit the pattern."""
        whole = self.submitted("*", lesson)
        depth = self.submitted("@", lesson).parts.index("@")
        start = self.root if whole.is_relative_to(self.root) else Path(whole.anchor)
        folders = (path for path in start.glob(str(whole.relative_to(start))) if path.is_dir())
        names = {path.parts[depth] for path in folders}
        return sorted(name for name in names if fnmatch(name, pattern) and not name.startswith("."))

    def strays(self, known: Iterable[str] = ()) -> list[str]:
        """Notebooks that were handed in and are in no lesson's folder, so that nobody grades them.

        Those of known students may lie in a folder of their name beside submitted/.
        """
        folders = {self.submitted(student, lesson) for lesson in self.lessons() for student in self.students(lesson)}
        steps = {path.resolve() for path in (*self.secrets(), self.root / self.directory.release_directory)}
        beside = (self.root / student for student in known if is_folder_name(student))
        places = [self.all_submitted, *(path for path in beside if path.is_dir() and path.resolve() not in steps)]
        walks = (files.walk(place, wanted=lambda name: not name.startswith(".")) for place in places)
        found = itertools.chain.from_iterable(walks)
        notebooks = (path for path in itertools.islice(found, MOST_SEEN) if path.suffix == ".ipynb")
        strays = (path for path in notebooks if not folders.intersection(path.parents))
        return sorted(str(path.relative_to(self.root)) for path in strays)

    def misplaced(self, strays: Iterable[str], known: Collection[str]) -> list[str]:
        """What may have been meant where the first folder of a stray has the name of a known student or a lesson."""
        found, lessons = dict[str, None](), self.lessons()
        for stray in strays:
            path = self.root / stray
            above = self.all_submitted if path.is_relative_to(self.all_submitted) else self.root
            name = path.relative_to(above).parts[0]
            if name in known:
                what, meant = "student", self.submitted(name, "<lesson>")
            elif name in lessons:
                what, meant = "lesson", self.submitted("<student>", name)
            else:
                continue
            folders = [place.relative_to(self.root) for place in (above / name, meant)]
            found[f"{folders[0]}/ has the name of a {what}: did you mean {folders[1]}/?"] = None
        return list(found)


def is_folder_name(student: str) -> bool:
    """Whether a folder of a student's own can have this name."""
    return bool(student) and Path(student).name == student and not student.startswith(".")


def handed_in(folder: Path) -> str:
    """What a submission's timestamp.txt says; "?" where it cannot be read, "" where there is none."""
    path = folder / "timestamp.txt"
    try:
        if not path.exists():
            return ""
        return path.read_text(encoding="utf-8").strip() if path.is_file() and path.stat().st_size < 1000 else "?"
    except (OSError, ValueError):
        return "?"

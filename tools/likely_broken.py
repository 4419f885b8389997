"""The tests that a change breaks first: what `make quick` runs.

    PYTHONPATH=tests python tools/likely_broken.py   # prints their files

A change is what git does not know yet, or else the last commit. These are the tests that were changed and those that
import a changed module themselves; slow ones are for `make test`.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator

from support.imports import ROOT, imported

ALWAYS = ["tests/test_structure.py", "tests/check/test_check.py", "tests/course/test_lint.py"]
LESSONS = ["tests/course/test_lessons.py", "tests/course/test_release.py", "tests/docs/test_readme.py"]
SLOW = ("attacks", "end_to_end", "fuzz", "tools", "test_answers.py", "test_grading.py", "test_update.py")


def changed() -> list[str]:
    """The files of a change, as seen from the root of the repository."""
    unknown = _git("diff", "--name-only", "HEAD") + _git("ls-files", "--others", "--exclude-standard")
    return unknown or _git("diff", "--name-only", "HEAD~1", "HEAD")


def tests_of(files: Iterable[str]) -> Iterator[str]:
    """The files of tests that these files break first, without those that take long."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    paths = {ROOT / file for file in files if file.endswith(".py")}
    for test in tests:
        name = test.relative_to(ROOT).as_posix()
        if not any(slow in name for slow in SLOW) and (test in paths or paths & imported(test)):
            yield name


def _git(*arguments: str) -> list[str]:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout.splitlines()


def main() -> None:
    """Print the files."""
    files = changed()
    of_lessons = LESSONS if any(file.endswith(".ipynb") for file in files) else []
    print(*sorted({*ALWAYS, *of_lessons, *tests_of(files)}))


if __name__ == "__main__":
    sys.exit(main())

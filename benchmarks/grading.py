"""How fast is `autograder grade`, how near to what it could be, and what memory does it need? Writes grading.md.

    python benchmarks/grading.py                       # all but the last section, once the machine is quiet
    python benchmarks/grading.py --section cluster     # one section, or several; the page keeps the others
    python benchmarks/grading.py --many 10000          # the last section alone, which says on stderr how far it is

Any of them takes the name of a lesson, before the options. A class hands it in, and stock nbgrader and ours grade it,
each in a fresh copy of the same course, one after the other. That their points differ is an error. Linux only.
"""

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from measured.cluster import cluster
from measured.comparison import compare, remember
from measured.course import Course
from measured.engine import engine, hand_ins
from measured.many import many

PAGE = Path(__file__).with_name("grading.md")
LESSON = "02_multi_head_attention"  # the median of those in checks.md
# In the order of the page, which knows a section by its heading.
HEADINGS = {
    "time": "# Grading: ours beside stock nbgrader, as ratios",
    "memory": "## Memory",
    "engine": "## What the engine costs",
    "hand-ins": "## What a hand-in costs",
    "cluster": "## Dask on one machine",
    "many": "## Many submissions",
}


def sections(page: str) -> dict[str, str]:
    """Each section of a page, by its heading."""
    return {text.partition("\n")[0]: text for text in re.split(r"^(?=#)", page, flags=re.MULTILINE) if text}


def write(name: str, text: str) -> None:
    """Put a section into the page in place of the one that was there."""
    known = sections(PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else {}
    known[HEADINGS[name]] = text
    page = "\n\n".join(known[heading].strip() for heading in HEADINGS.values() if heading in known)
    PAGE.write_text(f"{page}\n", encoding="utf-8")


def main() -> None:
    """Measure, and write each section as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("lesson", nargs="?", default=LESSON)
    parser.add_argument("--submissions", type=int, default=48, metavar="N", help="at least 24 (default: 48)")
    parser.add_argument("--section", nargs="+", choices=[name for name in HEADINGS if name != "many"])
    parser.add_argument("--many", type=int, default=0, metavar="N", help="only the last section, with N (at least 200)")
    arguments = parser.parse_args()
    lesson = arguments.lesson
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        course = Course(Path(folder), lesson, max(24, arguments.submissions))
        measured: dict[str, Callable[[], Iterator[str]]] = {
            "time": lambda: compare(course),
            "memory": lambda: remember(course),
            "engine": engine,
            "hand-ins": lambda: hand_ins(lesson),
            "cluster": lambda: cluster(course),
            "many": lambda: many(course, max(200, arguments.many)),
        }
        chosen = ["many"] if arguments.many else arguments.section or [name for name in HEADINGS if name != "many"]
        for name in chosen:
            text = "\n".join(measured[name]())
            write(name, text)
            print(f"{text}\n", flush=True)


if __name__ == "__main__":
    main()

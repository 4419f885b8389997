"""The course to be read in a browser: a page for each lesson, as students meet it, and for each document.

    PYTHONPATH=tests python tools/make_site.py   # writes build/site/; takes some seconds

The pages load nothing from elsewhere and need no server. What of the repository they show is what is there; no answer
and no hidden test is.
"""

import json
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import gallery
from markupsafe import Markup
from website import lesson as lessons_pages
from website.markdown import html_of, sections
from website.page import TEMPLATES, Page, render

from autograder.check import _panel
from autograder.course.address import Address, read_address
from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson, rules_of
from autograder.course.paths import Course
from autograder.course.written import asked
from autograder.report.page import TEMPLATES as REPORT

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "site"
GROUPS = {
    "How it is run, and how it is made": ("README.md", "CONTRIBUTING.md", "docs/*.md"),
    "Measured": ("benchmarks/*.md",),
}
SHOWN = next(panel for panel in gallery.PANELS if panel.what == "no scale")  # the check that fails on the first page


class LessonPage(Page):
    """A lesson's page, and what there is to say of it elsewhere."""

    def __init__(self, course: Course, address: Address, name: str) -> None:
        source = f"{course.directory.release_directory}/{name}/{name}.ipynb"
        self.lesson = Lesson(name, asked(read_notebook(course.source(name)), course.config))
        self.cells = list(lessons_pages.shown_cells(self.lesson))
        self.number = self.lesson.number
        body = lessons_pages.body(self.lesson, self.cells, colab=address.in_colab(source))
        super().__init__(source, f"{name}.html", f"{self.number} · {self.lesson.title}", body)


def document(path: Path) -> Page:
    """A document of the repository as a page."""
    text = path.read_text(encoding="utf-8")
    source = path.relative_to(ROOT).as_posix()
    title = "README" if source == "README.md" else text.partition("\n")[0].strip("# ")  # which has the course's
    return Page(source, str(Path(source).with_suffix(".html")), title, html_of(text))


def front(readme: str, lessons: Sequence[LessonPage], documents: dict[str, list[Page]]) -> Page:
    """The first page, made of the lessons, the README and a check that fails."""
    said = sections(readme)
    title, _, lead = said[""].partition("\n\n")
    example = next(page for page in lessons if page.lesson.name == SHOWN.lesson)
    exercise = next(each for each in example.lesson.exercises if each.name == SHOWN.exercise)
    body = render(
        "index.html",
        lead=Markup(html_of(f"{title}\n\n{lead.partition(chr(10))[0]}")),
        goal=next(chain.from_iterable(lessons_pages.figures(page.cells) for page in lessons)),
        lessons=lessons,
        exercises=sum(len(page.lesson.exercises) for page in lessons),
        minutes=sum(int(page.lesson.facts["minutes"]) for page in lessons),
        table=Markup(html_of(said["Lessons"])),
        example=example,
        stub=lessons_pages.code(exercise.answer.visible),
        panel=Markup(_panel.html(gallery.error(SHOWN))),
        hints=[(hint.title, Markup(html_of(hint.text))) for hint in exercise.hints],
        passed=[rule for check in exercise.checks for rule in rules_of(check.visible)],
        takes=Markup(html_of(said["For students"])),
        documents=documents.items(),
    )
    return Page("README.md", "index.html", title.strip("# "), body)


def write(site: Path = SITE) -> list[Page]:
    """Make the site in a folder, in place of what is there, and return its pages."""
    course, address = Course.at(ROOT), read_address(ROOT, look_up=True)
    lessons = [LessonPage(course, address, name) for name in course.lessons()]
    documents = {
        group: [document(path) for kind in kinds for path in sorted(ROOT.glob(kind))] for group, kinds in GROUPS.items()
    }
    first = front((ROOT / "README.md").read_text(encoding="utf-8"), lessons, documents)
    others = list(chain.from_iterable(documents.values()))
    pages = [first, *lessons, *others]
    files = {figure.file: figure.png for page in lessons for figure in lessons_pages.figures(page.cells)}
    for page in pages:
        page.finish(ROOT, {page.source: page.place for page in pages[1:]}, address)
        files |= {name: (ROOT / name).read_bytes() for name in page.files}
    for chapter in ([first, *lessons], others):
        for before, page, after in zip([None, *chapter], chapter, [*chapter[1:], None], strict=False):
            around = {"course": first.title, "before": before, "after": after}
            files[page.place] = render("page.html", page=page, body=Markup(page.body), **around).encode()
    files["search.js"] = f"const FOUND = {json.dumps(_index(pages[1:]), ensure_ascii=False)};\n".encode()
    files["site.js"] = (TEMPLATES / "site.js").read_bytes()
    files["site.css"] = (REPORT / "style.css").read_bytes() + (TEMPLATES / "site.css").read_bytes()
    shutil.rmtree(site, ignore_errors=True)
    for name, data in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(data)
    return pages


def _index(pages: Sequence[Page]) -> list[tuple[str, str, str, str]]:
    """For each part of a page: where it is, the page, its heading, and its words."""
    return [(f"{page.place}#{part.anchor}", page.title, part.title, part.text) for page in pages for part in page.parts]


if __name__ == "__main__":
    made = write()
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    print(f"{SITE / 'index.html'}: {len(made)} pages, {size / 1e6:.1f} MB")

"""A page of the site: its headings get addresses, its links lead to other pages, and its words can be searched."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, NavigableString, Tag
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.course.address import Address

TEMPLATES = Path(__file__).parent / "templates"
ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
HEADINGS = ["h1", "h2", "h3"]
NO_WORDS = ["output", "folded", "formulas", "came", "label", "remark"]  # classes of what nobody searches in


class Part(NamedTuple):
    """What stands under a heading: its level, its address in the page, its title, and all words down to the next."""

    level: int
    anchor: str
    title: str
    text: str


@dataclass
class Page:
    """A page."""

    source: str  # the file that it shows, from the course folder
    place: str  # the file that it is, from the site's folder
    title: str  # as other pages name it
    body: str  # what it holds, as HTML with links as the source has them
    parts: list[Part] = field(default_factory=list)  # what there is to find in it, once it is finished
    files: set[str] = field(default_factory=set)  # what of the course folder it shows besides, once it is finished

    @property
    def up(self) -> str:
        """The way from its folder to the site's."""
        return "../" * self.place.count("/")

    def to(self, place: str) -> str:
        """The way from it to another file of the site."""
        return f"{self.up}{place}"

    def finish(self, root: Path, places: Mapping[str, str], address: Address) -> None:
        """Give headings their anchors and links their targets; note what can be searched for.

        Args:
            root: the course folder.
            places: for each file that has a page, where that is.
            address: where files without one can be read.
        """
        soup = BeautifulSoup(self.body, "html.parser")
        _anchor(soup)
        for link in soup.find_all("a", href=True):
            self._lead(link, places, address)
        for image in soup.find_all("img"):
            self._show(image, root)
        for table in soup.find_all("table"):
            if not table.find_parent(class_="panel"):
                table.wrap(soup.new_tag("div", attrs={"class": "scroll"}))
        self.parts = _parts(soup)
        self.body = str(soup)

    def _lead(self, link: Tag, places: Mapping[str, str], address: Address) -> None:
        target, _, anchor = str(link["href"]).partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return
        path = self._path(target)
        if found := self.to(places[path]) if path in places else address.in_colab(path):
            link["href"] = found + (f"#{anchor}" if anchor else "")
        else:
            link.unwrap()

    def _show(self, image: Tag, root: Path) -> None:
        """A picture of the course folder comes along; of one that is elsewhere the words remain."""
        source = str(image["src"])
        if "://" in source:
            image.replace_with(str(image["alt"]))
        elif (root / self._path(source)).is_file():
            self.files.add(self._path(source))
            image["src"] = self.to(self._path(source))

    def _path(self, target: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.source), target))


def _anchor(soup: BeautifulSoup) -> None:
    """Give headings the anchors that GitHub gives them."""
    seen: dict[str, int] = {}
    for heading in soup.find_all(HEADINGS):
        name = re.sub(r"[^\w\- ]", "", heading.get_text().strip().lower()).replace(" ", "-")
        count = seen[name] = seen.get(name, -1) + 1
        heading["id"] = f"{name}-{count}" if count else name


def _parts(soup: BeautifulSoup) -> list[Part]:
    found: list[tuple[Tag, list[str]]] = []
    silent = {id(text) for tag in soup.find_all(class_=NO_WORDS) for text in tag.find_all(string=True)}
    for node in soup.descendants:
        if isinstance(node, Tag) and node.name in HEADINGS:
            found.append((node, []))
        elif type(node) is NavigableString and found and id(node) not in silent:
            found[-1][1].append(node)
    return [
        Part(int(tag.name[1]), str(tag["id"]), tag.get_text().strip(), " ".join("".join(words).split()))
        for tag, words in found
    ]


def render(template: str, **values: object) -> Markup:
    """Fill a template in; everything but Markup is escaped."""
    return Markup(ENVIRONMENT.get_template(template).render(**values))

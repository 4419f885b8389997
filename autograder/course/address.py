"""Where students and Colab find the course, and what of it stands in their notebooks.

pyproject.toml may name the address. Otherwise `autograder release` takes that of the git remote `origin`, and notes it
in its manifest, so that what a release looks like follows from the files alone.
"""

import posixpath
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.course.config import CourseError
from autograder.course.manifest import Manifest, git

HOST, PATH = r"[\w.-]+\.[A-Za-z]{2,}", r"(?P<path>[\w.-]+(?:/[\w.-]+)*/[\w.-]+?)(?:\.git)?/?"
FORMS = (  # of a remote that others can reach
    re.compile(rf"https://(?:[^/\s]*@)?(?P<host>{HOST}(?::\d+)?)/{PATH}"),
    re.compile(rf"ssh://(?:[^/\s]*@)?(?P<host>{HOST})(?::\d+)?/{PATH}"),
    re.compile(rf"(?:[^/:@\s]+@)?(?P<host>{HOST}):/?{PATH}"),  # git@github.com:you/course.git
)
COLAB, GITHUB, GITHUB_SSH = "colab.research.google.com", "github.com", "ssh.github.com"
LINK = re.compile(r"\[([^\]]+)\]\((\.\.?/[^)\s]+)\)")
ADVICE = """\
pyproject.toml does not say where the course lives. Give its table [tool.autograder] the lines
    repository = ""
    branch = "main"
and as the repository "https://github.com/OWNER/REPOSITORY", without a password, "" for the address of git's `origin`, \
or false where students cannot reach any. A line `site = "https://OWNER.github.io/REPOSITORY"` says where the pages of \
`make site` can be read."""

PAGE = "[This lesson with its figures, to read in a browser]"

# What of a source depends on the address: what installs the course, a badge, the lesson's page, links for Colab.
ADDRESSED = re.compile(
    r'(?<=^if "google\.colab" in sys\.modules:\n)(?: {4}.*\n)+|^\[!\[Open in Colab\]\(.*\n|\n\nOn Colab: \[.*|'
    rf"^{re.escape(PAGE)}\(.*\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Address:
    """Where the course can be downloaded."""

    repository: str  # the address that git clones without a password; "" while there is none
    branch: str  # the branch that students get
    site: str = ""  # where its pages can be read, without a slash at the end; "" while they are not published

    def in_colab(self, path: str) -> str:
        """Return the link that opens a file of the repository from Colab; "" where that opens nothing."""
        server, _, repository = self.repository.removeprefix("https://").partition("/")
        if server != GITHUB:
            return ""
        site = f"https://{COLAB}/github" if path.endswith(".ipynb") else f"https://{GITHUB}"
        return f"{site}/{repository}/blob/{self.branch}/{path}"

    def badge(self, lesson: str) -> str:
        """Return the line that opens a lesson's student notebook in Colab; "" where Colab cannot."""
        link = self.in_colab(f"notebooks/{lesson}/{lesson}.ipynb")
        return link and f"[![Open in Colab](https://{COLAB}/assets/colab-badge.svg)]({link})"

    def setup(self, source: str) -> str:
        """Return the source of a setup cell that installs the course from here."""
        install = f'    %pip install --quiet "git+{self.repository}@{self.branch}"\n'
        return ADDRESSED.sub(install, source) if self.repository else source

    def put_into(self, notebook: NotebookNode, lesson: str) -> None:
        """Give a student notebook its badge and page, what installs the course, and for Colab links to the others."""
        from nbgrader.utils import compute_checksum  # a second, which the judge's process need not spend

        title, setup = notebook.cells[:2]
        first, _, rest = title.source.partition("\n")
        page = self.site and f"{PAGE}({self.site}/{lesson}.html)"
        title.source = "\n".join(filter(None, [first, self.badge(lesson), page])) + f"\n{rest}"
        setup.source = self.setup(setup.source)
        setup.metadata.nbgrader.checksum = compute_checksum(setup)
        for cell in notebook.cells:
            found = LINK.findall(cell.source) if cell.cell_type == "markdown" else []
            targets = ((words, posixpath.normpath(f"notebooks/{lesson}/{target}")) for words, target in found)
            links = [f"[{words}]({link})" for words, path in targets if (link := self.in_colab(path))]
            cell.source += f"\n\nOn Colab: {', '.join(links)}" if links else ""


NOWHERE = Address("", "")


def read_address(root: Path, *, look_up: bool) -> Address:
    """Return the address that pyproject.toml names, else that of git's `origin`, else the one that was released.

    Raises:
        CourseError: pyproject.toml names none that a notebook can hold, or no branch.
    """
    table = _table(root)
    stated, branch = table.get("repository", ""), str(table.get("branch", ""))
    site = str(table.get("site", "")).rstrip("/")
    is_plain = isinstance(stated, str) and stated.startswith("https://") and "@" not in stated and web_address(stated)
    is_known = re.fullmatch(rf"(https://{HOST}[\w./:~-]*)?", site)
    if (stated not in ("", False) and not is_plain) or not re.fullmatch(r"[\w./-]+", branch) or not is_known:
        raise CourseError(ADVICE)
    if stated == "":
        return Address((look_up and origin(root)) or web_address(Manifest.read(root).repository), branch, site)
    return Address(web_address(stated) if stated else "", branch, site)


def _table(root: Path) -> dict[str, Any]:
    try:
        tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {})
    except FileNotFoundError:
        raise CourseError(ADVICE) from None
    except ValueError as error:
        raise CourseError(f"pyproject.toml cannot be read ({error}). Mend it first.") from None
    table: dict[str, Any] = tool.get("autograder", {})
    return table


def origin(root: Path) -> str:
    """Return the web address of the git remote `origin`; "" where there is no such remote, or it is no server."""
    is_top = git(root, "rev-parse", "--show-prefix") == ""  # and no folder of somebody's larger repository
    return web_address(git(root, "remote", "get-url", "origin") or "") if is_top else ""


def web_address(remote: str) -> str:
    """Return the https address of a remote, without user and password; "" where it has none, as a folder has not."""
    found = next(filter(None, (form.fullmatch(remote) for form in FORMS)), None)
    if not found:
        return ""
    host = found["host"].lower()
    return f"https://{GITHUB if host == GITHUB_SSH else host}/{found['path']}"


def without_address(source: str) -> str:
    """Return a source without what depends on the address, as it stands in solutions/."""
    return ADDRESSED.sub("", source)

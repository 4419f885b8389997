"""The README says what is so."""

import html
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from answers import WRONG
from matrix import source
from packaging.requirements import Requirement
from support import accessibility
from support.classroom import LESSONS, ROOT, classroom, message

from autograder.yours.trials import TRIALS

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_sample_message_is_the_real_one() -> None:
    """The words of the README's picture of a message are what the check says to the answer it describes."""
    forgot = next(wrong for wrong in WRONG["01_attention"] if wrong.what == "no scale")
    results = classroom("01_attention").grade({forgot.exercise: source("01_attention", forgot)})
    text = next(message(result) for result in results if result.check == f"check_{forgot.exercise}_values")
    words = html.unescape(re.search(r'failing_check.png" .*? alt="(.*?)">', README)[1])
    lines = [" ".join(line.replace("`", "").split()) for line in text.splitlines() if line]
    assert len(lines) == 5 and all(line in words for line in lines)


def test_the_sample_exercise_is_the_real_one() -> None:
    """The lines of the exercise in the README stand in the lesson."""
    stub = classroom("01_attention").stubs["scaled_dot_product_attention"]
    shown = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    assert all(line.strip() in stub for line in shown.splitlines() if line.strip() != "...")


def test_what_it_says_of_lessons_is_so() -> None:
    """The shortest takes 45 minutes and the longest 210, 1 to 7 have a hunt, and what is kept is no hunt."""
    minutes = [int(found) for found in re.findall(r"^\| \[.*\| (\d+) \| \d+ s \|", README, re.MULTILINE)]
    assert "from three quarters of an hour to three and a half hours" in README
    assert (min(minutes), max(minutes)) == (45, 210)
    hunts = [name for name in LESSONS if any(answer.startswith("mended_") for answer in classroom(name).stubs)]
    assert "lessons 1 to 7 also have a bug hunt" in README and hunts == LESSONS[1:8]
    assert not [name for name in TRIALS if name.startswith("mended_") or name in classroom(LESSONS[0]).stubs]


def test_every_command_for_make_exists() -> None:
    """Each `make …` in a document and the Makefile's help is a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    texts = "\n".join([makefile, *(document.read_text(encoding="utf-8") for document in DOCUMENTS)])
    named = set(re.findall(r"(?:^|`|\")make ([a-z]+)", texts, re.MULTILINE))
    assert {"lab", "test", "demo", "release", "setup", "outputs"} <= named
    assert named <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    """Links without a scheme, and pictures, name files of the repository, and headings in them."""
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)]+)", text)
    assert links or document.name not in ("guide.md", "adding_an_exercise.md", "a_course_of_your_own.md")
    for link in links + re.findall(r'src="(.*?)"', text):
        target, _, anchor = link.partition("#")
        path = document.parent / target if target else document
        assert path.exists(), link
        assert not anchor or anchor in anchors(path), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_exists(document: Path) -> None:
    """A path in backticks that begins with a folder of the repository is there, as is a document named alone."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    tops = {name.partition("/")[0] for name in files if "/" in name}
    for span in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", span) and (span.partition("/")[0] in tops and "/" in span):
            assert (ROOT / span).exists() and span.endswith("/") == (ROOT / span).is_dir(), span
        elif re.fullmatch(r"[\w-]+\.(md|toml|yml|txt)", span):
            assert (ROOT / span).exists(), span


def test_the_lock_fits_what_is_asked_for() -> None:
    """Each package that is asked for is in constraints.txt, in a version that fits."""
    assert "uv pip install -r requirements.txt -c constraints.txt" in README
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    locked = [Requirement(line) for line in lines if not line.startswith("#")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    asked = [line for line in asked if line and line[0] not in "#-"]
    for wanted in map(Requirement, [*asked, *project["dependencies"], *project["optional-dependencies"]["grading"]]):
        versions = [next(iter(each.specifier)).version for each in locked if each.name == wanted.name]
        assert wanted.name == "torch" or (versions and all(map(wanted.specifier.contains, versions))), wanted


def test_pictures_are_small_and_have_words() -> None:
    """Each picture of the README is a file below 100 kB, all together below 250 kB, and has words in its place."""
    pictures = re.findall(r'<img src="(.*?)" width="\d+" alt="([^"]{80,})">', README)
    assert len(pictures) == README.count("<img") == 3
    sizes = [(ROOT / path).stat().st_size for path, _ in pictures]
    assert max(sizes) < 100_000 and sum(sizes) < 250_000
    assert {ROOT / path for path, _ in pictures} == set((ROOT / "docs" / "pictures").iterdir())


def test_the_accessibility_statement_says_what_is_tested() -> None:
    """It names the standard and the program of the tests, and says what they leave out."""
    said = (ROOT / "docs" / "accessibility.md").read_text(encoding="utf-8")
    tool = json.loads((accessibility.AXE.parents[2] / "package.json").read_text(encoding="utf-8"))
    assert f"axe-core) {tool['devDependencies']['axe-core']} " in said
    assert accessibility.WCAG_2_2_AA[-1] == "wcag22aa" and "[WCAG 2.2](" in said
    assert all(f"{width} pixels" in said for width in (1280, 390, 360)) and "\n## What is left out\n" in said


def test_ci_runs_the_one_command() -> None:
    """.ci/run and the workflow come down to `make test`."""
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("exec make test")
    assert "run: bash .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_students_install_five_packages() -> None:
    """The package itself needs torch, numpy, matplotlib, safetensors and tqdm, without an upper bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = sorted(re.split(r"[^a-z]", need)[0] for need in project["dependencies"])
    assert names == ["matplotlib", "numpy", "safetensors", "torch", "tqdm"]
    assert not any("<" in need or "==" in need for need in project["dependencies"])

"""The address of the course reaches what students get and nothing else, and holds nobody's password."""

import subprocess
from pathlib import Path

import pytest
from nbgrader.utils import compute_checksum
from support.sample_lesson import ADDRESS, ROOT, cell, make_course, write_pyproject

from autograder.course.address import read_address, web_address, without_address
from autograder.course.config import CourseError, read_notebook
from autograder.course.release import release

SOURCE, STUDENT = (f"{folder}/01_doubling/01_doubling.ipynb" for folder in ("solutions", "notebooks"))
MANIFEST = "notebooks/release.json"
COLAB = "colab.research.google.com"
COURSE = "https://github.com/you/course"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course in a git repository without remotes, which names no address."""
    root = make_course(tmp_path / "course")
    write_pyproject(root, "")
    git(root, "init", "--quiet", "--initial-branch=main")
    return root


def git(folder: Path, *arguments: str) -> None:
    """Run git, which must succeed."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def released(root: Path, origin: str = "") -> dict[str, str]:
    """What the course's files say once it is released, with this remote if any."""
    if origin:
        git(root, "remote", "add", "origin", origin)
    release(root, register=False)
    return files(root)


def files(root: Path) -> dict[str, str]:
    """What the course's files say."""
    names = (SOURCE, STUDENT, MANIFEST, "README.md", "pyproject.toml")
    return {name: (root / name).read_text(encoding="utf-8") for name in names}


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/you/course", COURSE),
        ("https://github.com/you/course.git", COURSE),
        ("https://GitHub.com/you/course.git/", COURSE),
        ("git@github.com:you/course.git", COURSE),
        ("github.com:you/course", COURSE),
        ("ssh://git@github.com/you/course.git", COURSE),
        ("ssh://git@ssh.github.com:443/you/course.git", COURSE),
        ("https://ghp_secret@github.com/you/course.git", COURSE),
        ("https://you:secret@github.com/you/course", COURSE),
        ("https://you:sec@ret@github.com/you/course", COURSE),
        ("git@gitlab.example.org:group/sub/course.git", "https://gitlab.example.org/group/sub/course"),
        ("https://git.example.org:8443/you/course.js", "https://git.example.org:8443/you/course.js"),
        ("ssh://git@git.example.org:2222/you/course", "https://git.example.org/you/course"),
        ("git@work:you/course.git", ""),
        ("https://localhost/you/course", ""),
        ("https://127.0.0.1/you/course", ""),
        ("http://github.com/you/course", ""),
        ("https://github.com/you", ""),
        ('https://github.com/you/course"; rm -rf', ""),
        ("https://github.com/you/course?token=secret", ""),
        ("/srv/git/course.git", ""),
        ("file:///srv/git/course.git", ""),
        ("C:/Users/you/course", ""),
        ("../course", ""),
        ("", ""),
    ],
)
def test_what_a_remote_is_called_on_the_web(remote: str, address: str) -> None:
    """Each form that git knows becomes the plain https address, and what is no server with a name becomes nothing."""
    assert web_address(remote) == address


def test_the_address_of_origin_is_released_without_its_password(course: Path) -> None:
    """Badge, setup cell, links and README have it, sources and configuration do not, and no file has the password."""
    git(course, "remote", "add", "elsewhere", "https://github.com/other/course")
    texts = released(course, "https://you:ghp_secret@github.com/you/course.git")
    assert "ghp_secret" not in "".join(texts.values())
    assert "other" not in "".join(texts.values())
    opened = f"https://{COLAB}/github/you/course/blob/main/notebooks"
    assert f"]({opened}/01_doubling/01_doubling.ipynb)" in texts[STUDENT]
    assert f"git+{COURSE}@main" in texts[STUDENT]
    assert f"On Colab: [tripling]({opened}/02_tripling/02_tripling.ipynb)" in texts[STUDENT]
    assert f"{opened}/01_doubling/01_doubling.ipynb) |\n" in texts["README.md"]
    assert "you/course" not in texts[SOURCE] + texts["pyproject.toml"]


def test_check_follows_from_the_files_alone(course: Path) -> None:
    """What is released stays up to date in a clone with another origin or none, and follows it when released there."""
    released(course, COURSE)
    git(course, "remote", "set-url", "origin", "https://github.com/somebody/else")
    assert release(course, check=True) == []
    assert release(course, register=False) == [f"{name}: changed" for name in (STUDENT, MANIFEST, "README.md")]
    git(course, "remote", "remove", "origin")
    before = files(course)
    assert release(course, register=False) == [] and files(course) == before


def test_nothing_dead_is_shown_while_no_address_is_known(course: Path) -> None:
    """Without one there is no badge, no link to Colab and no column for it; the setup cell says what to do there."""
    texts = released(course)
    assert not [name for name, text in texts.items() if COLAB in text]
    assert "| Runs in |\n" in texts["README.md"] and "**4** | **20** | |\n" in texts["README.md"]
    setup = cell(read_notebook(course / STUDENT), "setup").source
    assert "print(\"Colab needs the course's .whl file" in setup and "git+" not in setup


def test_pyproject_has_the_last_word(course: Path) -> None:
    """An address there is taken instead of origin's, and `false` means that there is none for students."""
    write_pyproject(course, "https://github.com/teacher/fork.git", "2030")
    texts = released(course, COURSE)
    assert "git+https://github.com/teacher/fork@2030" in texts[STUDENT]
    assert "github/teacher/fork/blob/2030/notebooks/01_doubling/01_doubling.ipynb" in texts["README.md"]
    (course / "pyproject.toml").write_text('[tool.autograder]\nrepository = false\nbranch = "main"\n')
    assert not any("github" in text for text in released(course).values())


def test_a_lesson_links_its_page_where_the_site_is_published(course: Path) -> None:
    """Whatever the repository is, its preview leads to the figures; a source that was released is one again."""
    table = '[tool.autograder]\nrepository = false\nbranch = "main"\nsite = "https://you.github.io/course/"\n'
    (course / "pyproject.toml").write_text(table, encoding="utf-8")
    release(course, register=False)
    title = cell(read_notebook(course / STUDENT), "title").source
    assert title.splitlines()[1].endswith("](https://you.github.io/course/01_doubling.html)")
    source = cell(read_notebook(course / SOURCE), "title").source
    assert title != source == without_address(title)
    write_pyproject(course, "")
    release(course, register=False)
    assert cell(read_notebook(course / STUDENT), "title").source == source


def test_colab_installs_from_other_servers_but_opens_none(course: Path) -> None:
    """From GitLab the setup cell installs the course; there is no badge, since Colab opens GitHub's alone."""
    texts = released(course, "git@gitlab.com:you/course.git")
    assert "git+https://gitlab.com/you/course@main" in texts[STUDENT]
    assert not any(COLAB in text for text in texts.values())


def test_clones_of_all_kinds_know_their_origin(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worktree and a detached head do; without git, or in somebody's larger repository, nothing is known."""
    git(course, "remote", "add", "origin", COURSE)
    git(course, "add", "--all")
    git(course, "commit", "--quiet", "--message=All")
    git(course, "worktree", "add", "--quiet", "--detach", str(tmp_path / "worktree"))
    assert read_address(tmp_path / "worktree", look_up=True).repository == COURSE
    inner = make_course(course / "somewhere" / "inside")
    write_pyproject(inner, "")
    assert read_address(inner, look_up=True).repository == ""
    monkeypatch.setenv("PATH", "")
    assert read_address(course, look_up=True).repository == ""


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        f"[tool.autograder]\nrepository = '{ADDRESS}'",
        f"[tool.autograder]\nrepository = '{ADDRESS}'\nbranch = 'my branch'",
        "[tool.autograder]\nrepository = 'https://ghp_secret@github.com/a/b'\nbranch = 'main'",
        "[tool.autograder]\nrepository = 'git@github.com:a/b'\nbranch = 'main'",
        "[tool.autograder]\nrepository = ''\nbranch = 'main'\nsite = 'https://ghp_secret@example.org/a'",
        "[tool.autograder]\nrepository = true\nbranch = 'main'",
        "[tool.autograder",
    ],
)
def test_what_is_no_address_is_refused(course: Path, text: str | None) -> None:
    """Without a branch, or with a repository that is none or has a password, release says what to write where."""
    (course / "pyproject.toml").unlink()
    if text is not None:
        (course / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=r"pyproject\.toml") as caught:
        release(course)
    assert "secret" not in str(caught.value)


def test_a_source_that_was_released_is_one_again(course: Path) -> None:
    """Without its address, each cell that students get is the source's, and a badge in a source is taken out.

    The checksum of the students' setup cell is that of its text with the address, so nbgrader takes it as given.
    """
    before = released(course, COURSE)
    source, student = (read_notebook(course / path) for path in (SOURCE, STUDENT))
    for name in ("title", "setup", "next"):
        assert cell(student, name).source != cell(source, name).source
        assert without_address(cell(student, name).source) == without_address(cell(source, name).source)
    setup = cell(student, "setup")
    assert setup.metadata.nbgrader.checksum == compute_checksum(setup)
    badge = cell(student, "title").source.splitlines()[1]
    text = before[SOURCE].replace('"# 1 · Doubling\\n",', f'"# 1 · Doubling\\n",\n    "{badge}\\n",')
    (course / SOURCE).write_text(text, encoding="utf-8")
    assert release(course, register=False) == [f"{SOURCE}: changed"]
    assert files(course) == before


def test_the_course_names_no_address_that_nobody_serves() -> None:
    """In the course's own repository nothing leads to Colab or GitHub while pyproject.toml and origin name no place."""
    address = read_address(ROOT, look_up=False)
    texts = [(ROOT / "README.md").read_text(encoding="utf-8")]
    texts += [path.read_text(encoding="utf-8") for path in ROOT.glob("notebooks/*/*.ipynb")]
    assert address.repository or not any(COLAB in text for text in texts)
    sources = [path.read_text(encoding="utf-8") for path in ROOT.glob("solutions/*/*.ipynb")]
    assert not any(COLAB in text or "git+https" in text for text in sources)

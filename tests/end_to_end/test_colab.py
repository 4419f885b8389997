"""What Colab does with a lesson: a fresh machine, the setup cell's install from the course's address, every check.

The fresh machine is a virtual environment with the packages of Colab that lessons and kernels use, and a module
`google.colab`. Git finds the course's address in a repository made from this checkout.
"""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from packaging.requirements import Requirement
from support.classroom import AS_GRADED, LESSONS, ROOT

from autograder.course.address import Address
from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import colab_save, solved, submission
from autograder.transformer import SETUP

COURSE = Address("https://github.com/you/course", "main")
ON_COLAB = ("torch", "numpy", "matplotlib", "safetensors", "tqdm", "ipykernel", "nbclient")
RUN = """\
import sys
import nbclient, nbformat
from traitlets.config import Config
notebook = nbformat.read(sys.argv[1], as_version=4)
config = Config(KernelManager={"transport": "ipc"})  # no port that another program takes first
nbclient.NotebookClient(notebook, timeout=600, allow_errors=True, kernel_name="python3", config=config).execute()
nbformat.write(notebook, sys.argv[2])
"""
LIST = "import importlib.metadata as m; print(*sorted(f'{d.name} {d.version}' for d in m.distributions()), sep='\\n')"
FIND = "import importlib.util as u; found = u.find_spec('autograder'); print(found and found.origin)"


class Colab:
    """A machine like Colab's, with the course's address leading to this checkout."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.redirect: dict[str, str] = {}
        venv.create(folder / "venv", with_pip=True)
        self.python = folder / "venv" / "bin" / "python"
        self.packages = Path(self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        for package in closure(ON_COLAB).values():
            place(package, self.packages)
        (self.packages / "google" / "colab").mkdir(parents=True)
        (self.packages / "google" / "colab" / "__init__.py").touch()
        (self.packages / "colab.pth").write_text("import google.colab\n", encoding="utf-8")
        self.redirect = publish(folder / "repository")

    def run(self, *arguments: str) -> str:
        """Run its Python in an unrelated folder, knowing nothing of this one's environment, and return its output."""
        foreign = ("PYTHON", "JUPYTER", "IPYTHON", "VIRTUAL_ENV", "GIT_", "MPL")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        own = {"IPYTHONDIR": "ipython", "JUPYTER_DATA_DIR": "jupyter", "JUPYTER_CONFIG_DIR": "jupyter"}
        environment |= {key: str(self.home / name) for key, name in own.items()} | self.redirect
        environment |= AS_GRADED  # how long a model trains is the same everywhere
        options = {"cwd": self.home, "env": environment, "capture_output": True, "encoding": "utf-8"}
        done = subprocess.run([str(self.python), *arguments], check=False, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def execute(self, notebook: NotebookNode) -> NotebookNode:
        """Return a notebook as it looks after a run from top to bottom."""
        before, after = self.home / "before.ipynb", self.home / "after.ipynb"
        before.write_text(nbformat.v4.writes(notebook), encoding="utf-8")
        self.run("-c", RUN, str(before), str(after))
        return nbformat.v4.reads(after.read_text(encoding="utf-8"))


def closure(names: tuple[str, ...]) -> dict[str, Distribution]:
    """Return the installed distributions of these names and of everything they need."""
    found: dict[str, Distribution] = {}
    wanted = list(names)
    while wanted:
        package = distribution(wanted.pop())
        if package.name not in found:
            found[package.name] = package
            needs = [Requirement(text) for text in package.requires or []]
            wanted += [need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
    return found


def place(package: Distribution, site_packages: Path) -> None:
    """Install a distribution as it is installed here: the same files, linked where the disk allows it."""
    for file in package.files or []:
        if ".." not in file.parts:
            target = site_packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(file.locate(), target)
            except OSError:
                shutil.copy2(file.locate(), target)


def publish(repository: Path) -> dict[str, str]:
    """Commit this checkout's files to a new repository, and return the environment in which git takes it for GitHub."""
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if (ROOT / name).is_file():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, repository / name)
    git(repository, "init", "--quiet", "--initial-branch", COURSE.branch)
    git(repository, "add", "--all")
    git(repository, "-c", "user.name=Course", "-c", "user.email=course@localhost", "commit", "--quiet", "--message=All")
    instead = {f"url.{repository.as_uri()}.insteadOf": COURSE.repository, "protocol.file.allow": "always"}
    pairs = {
        f"GIT_CONFIG_{part}_{n}": text
        for n, pair in enumerate(instead.items())
        for part, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {"GIT_CONFIG_COUNT": str(len(instead)), **pairs}


def git(folder: Path, *arguments: str) -> str:
    """Run git without anybody's settings and return its output."""
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | plain
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True).stdout


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Colab]:
    """The fresh machine, on which nothing has run yet; gone afterwards, since it may be a gigabyte."""
    folder = tmp_path_factory.mktemp("colab")
    yield Colab(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def fresh(colab: Colab) -> list[str]:
    """What is installed before the first lesson, by name and version; the course is not."""
    assert colab.run("-c", FIND).strip() == "None"
    return colab.run("-c", LIST).splitlines()


@pytest.mark.parametrize("lesson", LESSONS)
def test_lesson_runs_on_colab(colab: Colab, fresh: list[str], lesson: str) -> None:
    """Without the course, a lesson's setup cell installs it and nothing else, and right answers pass every check."""
    colab.run("-m", "pip", "uninstall", "--quiet", "--yes", "transformer-from-scratch")
    source = Lesson(lesson, read_notebook(ROOT / "solutions" / lesson / f"{lesson}.ipynb"))
    released = read_notebook(ROOT / "notebooks" / lesson / f"{lesson}.ipynb")
    released.cells[1].source = COURSE.setup(SETUP)
    opened = colab_save(submission(released, solved(source.exercises)))

    cells = [cell for cell in colab.execute(opened).cells if cell.cell_type == "code"]

    failures = [text(output) for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert failures == []
    noise = [text(output) for cell in cells[1:] for output in cell.outputs if output.get("name") == "stderr"]
    assert noise == []
    assert "Ready: PyTorch" in "".join(map(text, cells[0].outputs))
    checks = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert len(checks) == sum(len(exercise.checks) for exercise in source.exercises)
    assert all("✓" in "".join(map(text, cell.outputs)) for cell in checks)

    assert Path(colab.run("-c", FIND).strip()) == colab.packages / "autograder" / "__init__.py"
    installed = colab.run("-c", LIST).splitlines()
    assert [line.split()[0] for line in installed if line not in fresh] == ["transformer-from-scratch"]
    assert [line for line in fresh if line not in installed] == []


def test_where_no_address_is_known_colab_takes_the_package_from_a_file(colab: Colab, fresh: list[str]) -> None:
    """The setup cell says what to upload, waits for nothing, and installs the newest file under any name."""
    colab.run("-m", "pip", "uninstall", "--quiet", "--yes", "transformer-from-scratch")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(Address("", "main").setup(SETUP))])
    outputs = colab.execute(notebook).cells[0].outputs
    assert text(outputs[0]).startswith("Colab needs the course's .whl file. Upload it")
    assert outputs[-1].ename == "ModuleNotFoundError"
    folder = colab.home.parent / "repository"
    versions = []
    for name in ("{}.whl", "{} (1).whl"):
        colab.run("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir=built", str(folder))
        (built,) = (colab.home / "built").iterdir()
        versions.append(built.stem.split("-")[1])
        built.rename(colab.home / name.format(built.stem))
        assert "Ready: PyTorch" in "".join(map(text, colab.execute(notebook).cells[0].outputs))
        assert f"transformer-from-scratch {versions[-1]}" in colab.run("-c", LIST).splitlines()
        with (folder / "autograder" / "data" / "__init__.py").open("a") as corrected:
            corrected.write("# corrected\n")
    assert versions[0] != versions[1]
    installed = colab.run("-c", LIST).splitlines()
    assert [line.split()[0] for line in installed if line not in fresh] == ["transformer-from-scratch"]


def text(output: NotebookNode) -> str:
    """Return what an output says."""
    return output.get("text") or output.get("evalue") or ""


def test_machine_is_like_colab(colab: Colab, fresh: list[str]) -> None:
    """The machine has the versions of this one, a `google.colab` in every process, and no nbgrader."""
    here = {f"{package.name} {package.version}" for package in closure(ON_COLAB).values()}
    assert here <= set(fresh)
    assert not any(line.startswith(("nbgrader ", "transformer-from-scratch ")) for line in fresh)
    assert colab.run("-c", "import sys; print('google.colab' in sys.modules)").strip() == "True"
    assert str(ROOT) not in colab.run("-c", "import sys; print(sys.path)")
    assert sys.prefix not in colab.run("-c", "import sys; print(sys.path)")

"""The house: imports go down, without a circle, and no file or folder grows too large to live in."""

import ast
import graphlib
import re
from collections.abc import Iterator

import pytest
from support.classroom import ROOT

PACKAGE = ROOT / "autograder"
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
# From top to bottom: a module imports from its own room and from those on lower floors. Each module belongs to the
# longest name that fits.
FLOORS = (
    ("cli",),
    ("demo",),
    ("yours",),
    ("exercises",),
    ("parts", "draw"),
    ("data", "transformer"),
    ("student", "hand_back", "similar", "leaderboard", "start"),
    ("report", "export", "collect", "grading.grade", "grading.doctor", "grading.nbgrader_plugin"),
    ("grading.cluster", "grading.pending", "grading.summary", "grading.trials", "spreadsheets"),
    ("grading.jobs",),
    ("grading.worker", "grading.gradebook"),
    ("grading.rpc", "grading.sandbox", "grading.submission"),
    ("grading.results", "grading.options"),
    ("course",),
    ("calls", "check"),
    ("changes", "colours", "files", "lessons", "random_state", "stub", "version"),
)
# What the lessons are made of; all other rooms but the demo are the engine, which does with any lessons, or none.
LESSONS = {f"autograder.{name}" for name in ("data", "draw", "exercises", "parts", "transformer", "yours")}
ROOMS = {f"autograder.{room}": floor for floor, rooms in enumerate(FLOORS) for room in rooms}
LONGEST_MODULE, LONGEST_TABLE, MOST_FILES = 500, 1200, 16


def imports(module: str) -> Iterator[str]:
    """The modules of the package that a module imports, wherever in it, for type checkers as well."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{module} imports by dots; write the whole name."
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:  # a module, or something in one
            source = module_named(name) or module_named(name.rpartition(".")[0])
            if source and source != module:
                yield source


def module_named(name: str) -> str:
    """A module as the table of all knows it; "" for none, and for the package itself, which holds nothing."""
    known = [] if name == "autograder" else [name, f"{name}.__init__"]
    return next((module for module in known if module in MODULES), "")


def room(module: str) -> str:
    """The room that a module is in."""
    return max((name for name in ROOMS if f"{module}.".startswith(f"{name}.")), key=len, default="")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_go_down(module: str) -> None:
    """A module imports from its own room and from lower floors."""
    if module == "autograder.__init__" or module == "autograder.grading.__init__":
        assert not list(imports(module))
        return
    mine = room(module)
    assert mine, f"{module} is in no room; give it one in FLOORS."
    upwards = [name for name in imports(module) if room(name) != mine and ROOMS[room(name)] <= ROOMS[mine]]
    assert not upwards


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_engine_knows_no_lesson(module: str) -> None:
    """Nothing of the engine imports what the lessons are made of, nor calls them by name."""
    if room(module) in LESSONS | {"autograder.demo"} or module == "autograder.__init__":
        return
    assert not [name for name in imports(module) if room(name) in LESSONS]
    if module not in ("autograder.lessons", "autograder.version"):  # which say what this package itself is called
        assert not re.search(r"\btransformer\b", MODULES[module].read_text(encoding="utf-8"), re.IGNORECASE)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_nobody_needs_what_tests_need(module: str) -> None:
    """No module imports, when it is imported itself, a package that tests/requirements.txt alone installs."""
    needed = re.findall(r"^(\w+)", (ROOT / "tests" / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    body = ast.parse(MODULES[module].read_text(encoding="utf-8")).body
    names = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in body if isinstance(node, ast.ImportFrom)]
    assert "pytest" in needed and not {name.partition(".")[0] for name in names} & set(needed)


def test_no_circle() -> None:
    """There is an order in which every module comes after all that it imports."""
    order = graphlib.TopologicalSorter({module: set(imports(module)) for module in MODULES})
    assert len(list(order.static_order())) == len(MODULES)


def test_no_file_is_too_long_and_no_folder_too_full() -> None:
    """A file of the package, a table of the tests and a folder of code stay within what one can overlook."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES.values()}
    assert not [path for path, lines in lengths.items() if lines > LONGEST_MODULE]
    tests = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")}
    assert not [path for path, lines in tests.items() if lines > LONGEST_TABLE]
    folders = {path.parent for path in MODULES.values()}
    assert not [folder for folder in folders if len(list(folder.glob("*.py"))) > MOST_FILES]

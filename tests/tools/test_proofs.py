"""A proof is made again when anything has changed that it depends on, and by one commit in ten."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import answers
import pytest
from support import digests, drawn, proofs
from support.classroom import ROOT, Classroom
from support.imports import reached

TEST, LESSON, EXERCISE, OTHER = "tests/test_answers.py", "02_multi_head_attention", "split_heads", "mended_weights"


@pytest.fixture
def room() -> Classroom:
    """A lesson that a test may change."""
    return Classroom(LESSON)


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let one file have another content than it has."""

    def changed(file: str) -> None:
        same = digests._hash
        assert (ROOT / file).is_file()
        monkeypatch.setattr(digests, "_hash", lambda path: same(path) + "changed" * (path == ROOT / file))

    return changed


def both(room: Classroom) -> tuple[str, str]:
    """The digests of two exercises of the lesson."""
    digests._reached_with_content.cache_clear()
    digests._files_of_cells.cache_clear()
    one, other = (digests.digest(TEST, digests.said_of(room, each), room, each) for each in (EXERCISE, OTHER))
    return one, other


def differ(room: Classroom, before: tuple[str, str]) -> tuple[bool, bool]:
    """Whether the proofs of these two exercises have to be made again."""
    return tuple(now != then for now, then in zip(both(room), before, strict=True))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("file", "which"),
    [
        ("autograder/check/_compare.py", (True, True)),
        ("autograder/data/__init__.py", (True, True)),
        ("tools/matrix.py", (True, True)),
        ("tests/support/classroom.py", (True, True)),
        (TEST, (True, True)),
        (f"autograder/exercises/lesson_2/{EXERCISE}.py", (True, False)),
        (f"autograder/exercises/lesson_2/{OTHER}.py", (False, True)),
        ("autograder/yours/own.py", (True, True)),
        ("autograder/yours/challenges.py", (False, False)),
        ("autograder/course/lint.py", (False, False)),
        ("autograder/grading/worker/judge.py", (False, False)),
        ("autograder/report/write.py", (False, False)),
        ("autograder/draw/figures.py", (False, False)),
        ("tests/tools/test_mutants.py", (False, False)),
    ],
)
def test_a_changed_file_counts_where_it_is_reached(
    room: Classroom, file: str, which: tuple[bool, bool], change: Callable[[str], None]
) -> None:
    """What the tests and the checks import makes their proofs new, and no other file does."""
    before = both(room)
    change(file)
    assert differ(room, before) == which


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("autograder/report/write.py", (False, True)),
        ("autograder/report/templates/class.html", (False, True)),
        ("autograder/draw/curves.py", (True, True)),
        ("autograder/data/dates.json", (True, True)),
        ("requirements.txt", (True, True)),
        ("Makefile", (False, True)),
        ("tests/support/classroom.py", (True, True)),
        ("tests/support/axe/package.json", (False, True)),
        ("tests/tools/test_proofs.py", (False, False)),
        ("README.md", (True, False)),
        ("docs/guide.md", (False, False)),
    ],
)
def test_of_all_lessons_counts_what_learners_have_and_of_the_course_all(
    file: str, counts: tuple[bool, bool], change: Callable[[str], None]
) -> None:
    """The package with its data, what is installed, what the test imports and the documents that it reads; no other."""
    tests = proofs.OF_LESSONS[0], "tests/end_to_end/test_accessibility.py"
    before = list(map(of_file, tests))
    change(file)
    assert tuple(now != then for now, then in zip(map(of_file, tests), before, strict=True)) == counts


@pytest.mark.parametrize(
    ("test", "counts"),
    [("end_to_end/test_term.py", True), ("course/test_update.py", True), ("export/test_gradescope.py", False)],
)
def test_a_document_counts_where_it_is_read(test: str, counts: bool, change: Callable[[str], None]) -> None:
    """By the test itself, or by what it imports of the tests."""
    before = of_file(f"tests/{test}")
    change("docs/guide.md")
    assert (of_file(f"tests/{test}") != before) == counts


def test_tables_of_answers_count_where_they_are_tried(change: Callable[[str], None]) -> None:
    """They are imported by their names, which no import statement says."""
    tests = proofs.OF_COURSE[1], "tests/export/test_gradescope.py"
    before = list(map(of_file, tests))
    change("tests/answers/lesson_2/split_heads.py")
    assert [now != then for now, then in zip(map(of_file, tests), before, strict=True)] == [True, False]


def test_every_file_and_test_that_is_one_proof_is_there() -> None:
    """One that is renamed or goes leaves no proof behind, and none is named twice."""
    names = (*proofs.OF_LESSONS, *proofs.OF_COURSE, *proofs.OF_EXERCISES, proofs.OF_ATTACKS)
    assert len({*names}) == len(names)
    for file, _, test in (name.partition("::") for name in names):
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "counts"), [(b"split_heads(x", True), (b"Four heads", False)])
@pytest.mark.parametrize("folder", ["notebooks", "solutions"])
def test_of_lessons_their_code_counts(folder: str, text: bytes, counts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As students and as instructors have it; prose and outputs do not."""
    (test, *_), path = proofs.OF_LESSONS, ROOT / folder / LESSON / f"{LESSON}.ipynb"
    before, read = of_file(test), Path.read_bytes
    assert text in read(path)
    monkeypatch.setattr(
        Path, "read_bytes", lambda other: read(other).replace(text, text[:-1] * (other == path) or text)
    )
    assert (of_file(test) != before) == counts


def test_of_a_module_what_runs_counts() -> None:
    """Comments, docstrings and line breaks do not; texts that only look like them do."""
    module = b'"""A room."""\n\ndef size(n):\n    """Say it."""\n    return n, """\n# two\n"""\n'
    same = b'def size(n):\n    # as it is\n    return (n,\n        """\n# two\n""")\n'
    assert digests.code_in(module) == digests.code_in(same)
    assert digests.code_in(module) != digests.code_in(module.replace(b"# two", b"# three"))
    assert digests.code_in(module) != digests.code_in(module.replace(b"return n", b"return -n"))


def of_file(test: str) -> str:
    """The digest of a file that is one proof."""
    for cached in (digests._of_learners, digests._of_course, digests._reached_with_content):
        cached.cache_clear()
    return digests.of_whole(test)


def test_no_room_of_instructors_is_reached_from_a_lesson() -> None:
    """So what changes there proves nothing anew that is proved of learners."""
    package = ROOT / "autograder"
    rooms = {package / room for room in digests.ROOMS_OF_INSTRUCTORS}
    assert all(map(Path.is_dir, rooms))
    learners = {path for path in package.rglob("*.py") if not rooms & {*path.parents}} - {package / "start.py"}
    assert not [path for path in reached(learners) if rooms & {*path.parents}]


def test_cells_answers_pages_and_torch_count(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check's cell, an answer of the tables and a row of a page count for their exercise, and PyTorch for all."""
    before = both(room)
    (cell, *_) = [cell for cell in room.checks if cell.id in room.checks_of(EXERCISE)]
    cell.source += "\n# changed"
    assert differ(room, before) == (True, False)
    cell.source = cell.source.removesuffix("\n# changed")
    assert differ(room, before) == (False, False)

    table = answers.WRONG[LESSON]
    monkeypatch.setitem(answers.WRONG, LESSON, [each for each in table if each.exercise != OTHER])
    assert differ(room, before) == (False, True)
    monkeypatch.setitem(answers.WRONG, LESSON, table)

    read = Path.read_text
    changed = lambda path, **how: read(path, **how).replace(f"| `{EXERCISE}` | 1", f"| `{EXERCISE}` | 2")  # noqa: E731
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", changed)
        assert differ(room, before) == (True, False)

    monkeypatch.setattr(digests.torch, "__version__", "0.1")
    assert differ(room, before) == (True, True)


def test_what_has_changed_is_made_now_and_a_tenth_of_the_rest() -> None:
    """Nothing that is new or changed was made earlier; of a hundred others a commit draws some; outside of git all."""
    same = {f"exercise {number}": "0" for number in range(100)}
    now, kept = {TEST: same | {"changed": "1", "new": "1"}}, {TEST: same | {"changed": "0", "gone": "0"}}
    again = [{what for what in same if (TEST, what) not in proofs.earlier(kept, now, commit)} for commit in "abcd"]
    assert all(2 <= len(each) <= 25 for each in again) and len(set.union(*again)) > 25
    assert not {"changed", "new", "gone"} & {what for _, what in proofs.earlier(kept, now, "a")}
    assert proofs.earlier(kept, now, "") == set()


def test_of_a_table_each_push_takes_a_few_rows_and_all_come_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row in twelve on a push, which ones its commit decides; one in four else; a short table is never left out."""
    rows = range(100)
    monkeypatch.setattr(drawn, "FEW", False)
    assert drawn.some_of(rows, EXERCISE, one_in=4, on_a_push=12) == rows[::4]
    monkeypatch.setattr(drawn, "FEW", True)
    seen = set()
    for commit in map(str, range(100)):
        monkeypatch.setattr(drawn, "head", lambda commit=commit: commit)
        some = drawn.some_of(rows, EXERCISE, one_in=4, on_a_push=12)
        assert 8 <= len(some) <= 9 and len(drawn.some_of(rows[:2], EXERCISE, one_in=4, on_a_push=12)) == 1
        seen |= set(some)
    assert seen == set(rows)


def test_the_commit_is_that_of_git() -> None:
    """In a clone it is what HEAD says, so that every run of a commit makes the same proofs."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    said = subprocess.run(command, capture_output=True, encoding="ascii", check=False).stdout.strip()
    assert drawn.head() == said


@pytest.mark.parametrize(
    ("failed", "kept"),
    [
        ([], {TEST: {EXERCISE: "new", OTHER: "new"}}),
        ([(f"{TEST}::one", [(TEST, EXERCISE)])], {TEST: {OTHER: "new"}}),
        ([("tests/cli/test_cli.py::one", None)], {TEST: {EXERCISE: "new", OTHER: "new"}}),
        ([(f"{TEST}::one", None)], {TEST: {}}),
    ],
)
def test_what_passes_is_kept(
    failed: list, kept: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Of each file that is run; a process that dies takes all of its file's proofs with it."""
    monkeypatch.setattr(proofs, "KEPT", tmp_path / "proofs.json")
    run = object.__new__(proofs.Proofs)
    run.now, run.failed = {TEST: {EXERCISE: "new", OTHER: "new"}}, set()
    run.kept = {TEST: {EXERCISE: "old"}, "other": {EXERCISE: "old"}}
    for name, what in failed:
        properties = [] if what is None else [(proofs.PROVES, what)]
        run.pytest_runtest_logreport(
            pytest.TestReport(name, (TEST, 1, ""), {}, "failed", "", "call", user_properties=properties)
        )
    run.pytest_sessionfinish(request.session, pytest.ExitCode.INTERRUPTED)
    assert not proofs.KEPT.exists()
    run.pytest_sessionfinish(request.session, pytest.ExitCode.TESTS_FAILED)
    assert proofs.read() == kept | {"other": {EXERCISE: "old"}}


@pytest.mark.parametrize(
    ("test", "params", "subjects"),
    [
        ("test_answers.py::test_it[3]", {"name": EXERCISE}, [EXERCISE]),
        ("test_answers.py::test_verdicts_depend_on_the_answer_alone[3]", {"seed": 3}, None),
        ("attacks/test_attacks.py::test_other_ways_are_as_safe[a-b]", {"way": "a"}, None),
        ("attacks/test_attacks.py::test_it[a-b]", {"attack": "a"}, ["a"]),
        ("test_structure.py::test_it", {}, []),
    ],
)
def test_a_test_proves_something_of_what_it_is_about(test: str, params: dict, subjects: list[str] | None) -> None:
    """Of its exercise or attack; some tests, of the course; most nothing that is kept."""
    file, _, name = f"tests/{test}".partition("::")
    item = SimpleNamespace(path=ROOT / file, name=name, callspec=SimpleNamespace(params=params))
    assert proofs.subjects(item) == ([f"{file}::{name.partition('[')[0]}"] if subjects is None else subjects)


@pytest.mark.parametrize("chosen", [("-k", "split"), ("--ignore", "x"), ("--collect-only",), (TEST + "::x",)])
def test_a_part_of_a_file_is_no_proof(chosen: tuple[str, ...], pytestconfig: pytest.Config) -> None:
    """Where tests are chosen one by one, a run with PROOFS says so and ends."""
    config = pytestconfig.__class__.fromdictargs({}, [*chosen, "tests/tools"])
    with pytest.raises(pytest.UsageError, match="whole files"):
        proofs.Proofs(config)

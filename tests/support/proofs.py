"""Which proofs a run makes: with `PROOFS=changed` those of which something has changed, and a tenth of the others.

Digests of all that they depend on (`support.digests`) are kept in `tests/proofs.json`. A run with `PROOFS` keeps those
of the proofs that pass; one without makes all proofs and keeps nothing.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.drawn import FEW, ROOT, drawn, head

KEPT = ROOT / "tests" / "proofs.json"
PROVES = "proves"  # the property of a test's report that says of which proofs it is a part

# Which tests prove something of an exercise, and which of an attack; and the slowest files and tests, of which each is
# one proof: of all lessons as learners have them, and of the whole course, with all that instructors do.
OF_EXERCISES = (
    "tests/test_answers.py",
    "tests/test_spoiled_answers.py",
    "tests/grading/rpc/test_verdicts.py",
    "tests/tools/test_mutants.py",
    "tests/yours/test_challenges.py",
)
OF_ATTACKS = "tests/attacks/test_attacks.py"
OF_LESSONS = "tests/end_to_end/test_own_model.py", "tests/end_to_end/test_colab.py"
OF_COURSE = (
    "tests/attacks/test_attacks.py::test_other_ways_are_as_safe",
    "tests/test_answers.py::test_verdicts_depend_on_the_answer_alone",
    "tests/cli/test_start.py",
    "tests/collect/test_exchange.py",
    "tests/course/test_update.py",
    *(f"tests/end_to_end/test_{name}.py" for name in ("accessibility", "active_content", "browser", "jupyterhub")),
    *(f"tests/end_to_end/test_{name}.py" for name in ("lab", "predictions", "round_trips", "term")),
    *(f"tests/export/test_{name}.py" for name in ("classroom50", "gradescope")),
    *(f"tests/grading/gradebook/test_{name}.py" for name in ("reader", "writer")),
    *(f"tests/grading/test_{name}.py" for name in ("cluster", "grade", "grading", "trials", "ways", "written")),
    "tests/leaderboard/test_leaderboard.py",
    "tests/test_plain_course.py",
    "tests/tools/test_gallery.py",
)

Digests = Mapping[str, Mapping[str, str]]  # by test file, and by what they are about
Proof = tuple[str, str]


def earlier(kept: Digests, now: Digests, commit: str) -> set[Proof]:
    """The proofs that need not be made: none outside of git, and otherwise those as kept that are not drawn."""
    same = {(test, what) for test, each in now.items() for what in each if kept.get(test, {}).get(what) == each[what]}
    return {(test, what) for test, what in same if commit and not drawn(commit, what)}


def read() -> Digests:
    """The digests that are kept."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}


def file_of(item: pytest.Item) -> str:
    """The file of a test, as seen from the root of the repository."""
    return item.path.relative_to(ROOT).as_posix()


def subjects(item: pytest.Item) -> list[str]:
    """What a test proves something of: an exercise, all those of a lesson, an attack, its file, itself; or nothing."""
    params, file = item.callspec.params if hasattr(item, "callspec") else {}, file_of(item)
    if whole := {file, f"{file}::{item.name.partition('[')[0]}"} & {*OF_LESSONS, *OF_COURSE}:
        return [*whole]
    if file == OF_ATTACKS and "attack" in params:
        return [params["attack"]]
    if file not in OF_EXERCISES:
        return []
    answer = params.get("wrong", params.get("right"))
    name = answer.exercise if answer else params.get("exercise", params.get("name"))
    if name or "lesson" not in params:
        return [name] if name else []
    from support.classroom import classroom

    return list(classroom(params["lesson"]).answers)


class Proofs:
    """The proofs of a run, in the process that shares out the tests."""

    def __init__(self, config: pytest.Config) -> None:
        options = config.option
        chosen = options.keyword, options.markexpr, options.deselect, options.ignore, options.collectonly
        if any(chosen) or any("::" in each for each in config.args):
            raise pytest.UsageError("With PROOFS whole files are run, without -k, -m, --ignore, --collect-only and ::.")
        from support.digests import digests

        self.config = config
        self.now = {test: each for test, each in digests().items() if self._is_run(test)}
        self.kept = read()
        self.earlier = earlier(self.kept, self.now, head()) if FEW else set()
        self.failed: set[Proof] = set()

    def _is_run(self, test: str) -> bool:
        paths = [Path(self.config.invocation_params.dir, each).resolve() for each in self.config.args]
        return any(path in (ROOT / test, *(ROOT / test).parents) for path in paths)

    def pytest_report_header(self) -> str:
        count = sum(map(len, self.now.values()))
        return f"proofs: {count - len(self.earlier)} now, {len(self.earlier)} made earlier; `make prove` makes all"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down which proofs fail; where a process has died, nobody knows which of its file's."""
        if report.failed:
            test = report.nodeid.partition("::")[0]
            every = [(test, what) for what in self.now.get(test, ())]
            self.failed |= {(test, what) for test, what in dict(report.user_properties).get(PROVES, every)}

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Keep what has been proved; nothing, where not all tests were run."""
        if (
            exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
            or session.shouldstop
            or session.shouldfail
        ):
            return
        proved = {
            test: {what: digest for what, digest in each.items() if (test, what) not in self.failed}
            for test, each in self.now.items()
        }
        if self.kept | proved != self.kept:
            text = json.dumps(self.kept | proved, indent=1, ensure_ascii=False, sort_keys=True)
            KEPT.write_text(text + "\n", encoding="utf-8")

"""Every change of a reference answer fails some check, or stands in the file of equivalent mutants with its reason."""

import mutants
import pytest

from autograder import changes as mutation

SOURCE = """
def clip(x, low, high=1):
    low = low + 0
    ### BEGIN SOLUTION
    if x < low and high is not None:
        return low
    return min(x, high)
    ### END SOLUTION
"""


@pytest.mark.parametrize(("exercise", "lesson"), mutants.exercises().items())
def test_no_wrong_mutant_survives(exercise: str, lesson: str) -> None:
    """Each mutant fails a check or is listed as equivalent, each that is listed survives; the page counts both."""
    counts, wrong = mutants.report(lesson, exercise)
    assert counts.changes > 10
    assert not wrong, "\n".join(wrong)
    assert mutants.row(exercise, counts) in mutants.PAGE.read_text(encoding="utf-8").splitlines()


def test_equivalent_mutants_have_an_exercise_and_a_reason() -> None:
    """Every entry belongs to an exercise and says why its changes are right, and no change is listed twice."""
    for exercise, entries in mutants.equivalent().items():
        assert exercise in mutants.exercises()
        assert all(entry["why"].endswith(".") for entry in entries)
        changes = [change for entry in entries for change in entry["changes"]]
        assert changes and len(set(changes)) == len(changes)


def test_one_place_of_the_solution_is_changed_at_a_time() -> None:
    """Operators, names, conditions, arguments and statements change; what stands outside the solution does not."""
    changes = {mutant.change for mutant in mutation.mutants(SOURCE)}
    head = "if x < low and high is not None:"
    assert changes >= {
        f"{head} → if x <= low and high is not None:",
        f"{head} → if x < low or high is not None:",
        f"{head} → if not (x < low and high is not None):",
        f"{head} → (deleted)",
        "return low → return high",
        "return min(x, high) → return max(x, high)",
        "return min(x, high) → return min(high, x)",
        "return min(x, high) → return x",
    }
    assert not any(change.startswith("low = low") for change in changes)


def test_mutants_of_the_same_code_count_once() -> None:
    """Neither a mutant that compiles to the answer itself nor two that compile alike are made."""
    source = "def f(x):\n    ### BEGIN SOLUTION\n    return -0 * x\n    ### END SOLUTION\n"
    codes = [mutation._fingerprint(mutant.code) for mutant in mutation.mutants(source)]
    assert len(set(codes)) == len(codes) > 3


def test_survivors_and_useless_entries_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A survivor without an entry is reported, and so is an entry whose mutant some check kills."""
    entry = {"why": "A test.", "changes": ["return x → return y"]}
    monkeypatch.setattr(mutants, "equivalent", lambda: {"padding_mask": [entry]})
    _, wrong = mutants.report("01_attention", "padding_mask")
    assert "✗ padding_mask: no longer survives: return x → return y" in wrong
    assert any("no check fails on" in line and line.endswith("[:, None, None]") for line in wrong)


@pytest.mark.parametrize("source", ["while True: pass", "import os; os._exit(0)", "bytearray(1 << 40)"])
def test_a_mutant_that_never_ends_or_takes_its_process_along_is_killed(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process ends, another goes on with the next mutant, and the reference answer still passes there."""
    monkeypatch.setattr(mutants, "SECONDS", 2)
    room = mutants.classroom("01_attention")
    right = compile(room.answers["causal_mask"], "right", "exec")
    wild = mutation.Mutant("wild", compile(source, "wild", "exec"))
    verdicts = [killer for _, killer in mutants.killers(room, "causal_mask", [wild, mutation.Mutant("right", right)])]
    assert verdicts[0] and not verdicts[1]

"""What is solved and what is left, as the checks of this session last said."""

from collections.abc import Callable

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher

from autograder import check
from autograder.check import _progress

LESSON = {"1.1 f": 2, "1.2 <g>": 1}


@pytest.fixture(autouse=True)
def _nothing_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)  # nbgrader leaves it where it has run
    monkeypatch.setattr(_progress, "_session", _progress.Session())


def run(name: str, rule: str, statement: Callable[[], object] = lambda: None) -> None:
    """Run a check as a check cell does, whatever it says."""

    def checked() -> None:
        statement()

    checked.__name__ = rule
    try:
        check.exercise(name)(checked)
    except check.CheckFailed as error:
        assert str(error)


def wrong() -> None:
    check.true(False, "It is wrong.")


def unwritten() -> None:
    raise NotImplementedError


def said(capsys: pytest.CaptureFixture[str], exercises: object = LESSON) -> list[str]:
    """The lines that are printed where there is no notebook."""
    capsys.readouterr()
    check.progress(exercises)
    return capsys.readouterr().out.splitlines()


def test_each_exercise_has_a_mark_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing run, some run, unwritten, failing and all passing are five states, each a mark and a phrase."""
    assert said(capsys) == ["0 of 2 exercises solved.", "– 1.1 f: not checked yet", "– 1.2 <g>: not checked yet"]
    run("1.1 f", "it_adds_up")
    run("1.2 <g>", "it_is_even", unwritten)
    assert said(capsys)[1:] == ["– 1.1 f: 1 of 2 checks run, and passed", "– 1.2 <g>: not written yet"]
    run("1.1 f", "it_is_odd", wrong)
    run("1.2 <g>", "it_is_even")
    lines = ["1 of 2 exercises solved.", "✗ 1.1 f: fails “it is odd”", "✓ 1.2 <g>: all checks pass"]
    assert said(capsys) == lines


def test_a_check_that_runs_again_has_a_new_state(capsys: pytest.CaptureFixture[str]) -> None:
    """What counts is how each check ended when it last ran, for better and for worse."""
    run("1.1 f", "it_adds_up", wrong)
    run("1.1 f", "it_is_odd")
    assert said(capsys)[1].startswith("✗")
    run("1.1 f", "it_adds_up")
    assert said(capsys)[1] == "✓ 1.1 f: all checks pass"
    run("1.1 f", "it_is_odd", lambda: 1 / 0)
    assert said(capsys)[1] == "✗ 1.1 f: fails “it is odd”"


def test_with_a_changed_answer_the_exercise_begins_anew(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What passed with another function or class counts no more; to run the same cell again changes nothing."""
    for kind, answer in (
        ("a function", "def f():\n    return {}"),
        ("a class", "class f:\n    def g(self): return {}"),
    ):
        for value, rule, state in (
            (1, "it_adds_up", f"– 1.1 f: 1 of 2 checks run{' since you changed it' * (kind == 'a class')}, and passed"),
            (1, "it_is_odd", "✓ 1.1 f: all checks pass"),
            (2, "it_is_odd", "– 1.1 f: 1 of 2 checks run since you changed it, and passed"),
        ):
            scope: dict[str, object] = {}
            exec(answer.format(value), scope)
            monkeypatch.setitem(globals(), "f", scope["f"])
            run("1.1 f", rule)
            assert said(capsys)[1] == state, kind


@pytest.mark.parametrize("exercises", [None, 3, ["1.1 f"], {"1.1 f": None}, {1: "2"}])
def test_nothing_is_raised_whatever_is_asked(capsys: pytest.CaptureFixture[str], exercises: object) -> None:
    """A call that makes no sense prints a line that says so, and the notebook goes on."""
    run("1.1 f", "it_adds_up")
    assert len(said(capsys, exercises)) >= 1


def test_in_a_notebook_it_is_a_table_with_a_plain_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A front end gets a table with caption and headings, names escaped, and the same lines as text; nbval too."""
    run("1.1 f", "it_adds_up")
    run("1.1 f", "it_is_odd")
    text = "\n".join(said(capsys))
    shell = type("Shell", (), {"display_pub": CapturingDisplayPublisher()})()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert said(capsys) == []
    (shown,) = shell.display_pub.outputs
    assert shown["data"]["text/plain"] == text
    table = shown["data"]["text/html"]
    assert "1 of 2 exercises solved.</b></caption>" in table
    assert '>1.2 &lt;g&gt;</th><td style="text-align:left">– not checked yet</td>' in table
    assert table.count('scope="row"') == table.count('scope="col"') == 2


def test_a_cell_says_what_it_relies_on(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not solved is named before a cell that uses it, what is solved is not; grading hears nothing."""
    check.lesson({"7.2 greedy_decode": 1, "7.3 exact_match": 1})
    run("7.3 exact_match", "rule")
    capsys.readouterr()
    check.relies_on("7.2 greedy_decode", "7.3 exact_match")
    assert capsys.readouterr().out == ("What follows uses 7.2 greedy_decode: not all checks of it have passed yet.\n")
    check.relies_on("7.3 exact_match")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check.relies_on("7.2 greedy_decode")
    assert not capsys.readouterr().out

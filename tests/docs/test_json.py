"""The JSON of the command line has the keys that the guide lists, no more and no fewer."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.gradebook import LESSON, Pretender, hand_in, handed_in_at, set_duedate
from support.guide import JSON_ROWS, json_entries, json_keys, names

from autograder import cli
from autograder.grading.results import Note, NoteKind, Outcome, Status
from autograder.grading.worker import client

PASSED = (Outcome("check_double", 3, Status.PASSED), Outcome("check_double_text", 1, Status.PASSED))


def commands(parser: argparse.ArgumentParser, so_far: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the commands that take --json."""
    for action in parser._actions:
        if "--json" in action.option_strings:
            yield " ".join(so_far)
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, (*so_far, name))


@pytest.fixture
def printed(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, list[dict[str, Any]]]:
    """What each command prints of a class in which everything happens: somebody late, graded again, a note."""
    monkeypatch.chdir(course)
    hand_in(course, "ada", "bob")
    handed_in_at(course, "bob", "2030-01-02 13:00 UTC")
    found: dict[str, list[dict[str, Any]]] = {}

    def run(command: str, *options: str, **changes: Any) -> None:
        monkeypatch.setattr(client, "GradingServer", lambda **_: Pretender(course, **changes))
        capsys.readouterr()
        assert cli.main([*command.split(), *options, "--json"]) == 0
        found.setdefault(command, []).append(json.loads(capsys.readouterr().out))

    run("grade", notes=(Note(NoteKind.FILE, "A note."),))
    set_duedate(course)
    run("grade")
    run("grade", "--force", checks=PASSED)
    run("status")
    run("history")
    run("student show", "ada")
    run("due")
    return found


def test_each_command_that_has_json_is_in_the_guide() -> None:
    """The guide names all of them, and none that has none."""
    assert {name for row in JSON_ROWS if len(row) == 3 for name in names(row[1])} == set(commands(cli.command_line()))


def test_the_keys_are_those_of_the_guide(printed: dict[str, list[dict[str, Any]]]) -> None:
    """Each object has the keys of its command, and each entry of its lists those of that list."""
    for command, wholes in printed.items():
        for whole in wholes:
            assert whole.keys() == json_keys(command), command
        for path, keys in json_entries(command).items():
            first, _, inner = path.partition(".")
            found = [entry for whole in wholes for entry in whole.get(first, ())]
            if inner:
                found = [one for entry in found for one in (entry[inner] if inner != "counts" else [entry[inner]])]
            assert found or first not in json_keys(command), (command, path)
            assert all(one.keys() == keys for one in found), (command, path)


def test_ids_and_times_are_as_the_guide_says(printed: dict[str, list[dict[str, Any]]]) -> None:
    """Names stand under ids, and what is due has its zone, in each command."""
    for command, (whole, *_) in printed.items():
        assert whole.get("students", {}).items() <= {"ada": "ada", "bob": "bob"}.items(), command
    for command in ("status", "student show", "due"):
        (lesson,) = printed[command][0]["lessons"]
        assert (lesson["lesson"], lesson["due"]) == (LESSON, "2030-01-02T12:00:00+00:00")

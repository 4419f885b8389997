"""What is remembered from lesson to lesson in `progress.json`, beside the lessons; whatever is lost, nothing breaks."""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from autograder import files
from autograder.yours import place

FILE, LARGEST = "progress.json", 1_000_000  # bytes; a larger one is not ours
CHECKS = "checks"  # the topic of attempts: lesson → exercise → what is known of it
Entry = dict[str, Any]


def read(topic: str) -> Entry:
    """What is kept under a topic; nothing where nothing is, or where it cannot be read."""
    if not place.is_used() or (path := place.found(FILE)) is None:
        return {}
    kept = _whole(path).get(topic)
    return kept if isinstance(kept, dict) else {}


def keep(topic: str, values: Mapping[str, Entry]) -> None:
    """Keep values under their names in a topic, beside all others; never raise."""
    if not place.is_used():
        return
    path = place.folder() / FILE
    whole = _whole(path) | {topic: read(topic) | dict(values)}
    try:
        try:
            text = json.dumps(whole, indent=1, ensure_ascii=False)
        except RecursionError:  # what somebody has put beside it
            text = json.dumps({topic: values}, indent=1, ensure_ascii=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text.encode(errors="replace") + b"\n")
    except OSError as error:
        _say_once(f"{path} cannot be written ({type(error).__name__}), so this is not remembered.")


def attempt(exercise: str, of_lesson: Iterable[str], broken: str = "") -> None:
    """Keep that somebody has tried an exercise: the rule that they broke, "" where all checks of it pass.

    Args:
        exercise: as its heading names it, "1.4 causal_mask".
        of_lesson: all exercises of its lesson.
    """
    lesson, today = exercise.partition(".")[0], date.today().isoformat()
    before = _dict(read(CHECKS).get(lesson))
    known = {name: _checked(before.get(name)) for name in [*of_lesson, exercise]}
    of_it = known[exercise]
    if not broken and "solved" in of_it:
        return
    of_it |= {"tries": of_it["tries"] + 1, "first": of_it.get("first", today), "last": today}
    if broken:
        of_it["broken"][broken] = of_it["broken"].get(broken, 0) + 1
    else:
        of_it["solved"] = today
    keep(CHECKS, {lesson: known})


def where_am_i() -> Iterator[str]:
    """A line for each lesson that somebody has begun: what is solved, when they were last at it, and what resisted."""
    kept = read(CHECKS)
    for lesson in sorted(name for name in kept if len(name) == 1 and name in "0123456789"):
        known = {name: _checked(entry) for name, entry in _dict(kept[lesson]).items()}
        marks = "".join("✓" if "solved" in each else "✗" if each["tries"] else "–" for each in known.values())
        last = max((each.get("last", "") for each in known.values()), default="")
        resists = [name.partition(" ")[0] for name, each in known.items() if each["tries"] and "solved" not in each]
        line = f"lesson {lesson}   {marks:9}   {marks.count('✓')} of {len(marks)} solved"
        yield line + (f", last on {last}" if last else "") + (f"; begun: {', '.join(resists)}" if resists else "")


def _whole(path: Path) -> Entry:
    """What is in the file, whoever has written it; nothing where it cannot be read."""
    try:
        is_ours = path.is_file() and path.stat().st_size <= LARGEST
        return _dict(json.loads(path.read_bytes())) if is_ours else {}
    except (OSError, ValueError, RecursionError):
        return {}


def _checked(value: object) -> Entry:
    """What the file says of an exercise, where it is what `attempt` writes."""
    entry = _dict(value)
    broken = {rule: count for rule, count in _dict(entry.get("broken")).items() if type(count) is int}
    dates = {key: entry[key] for key in ("first", "last", "solved") if isinstance(entry.get(key), str)}
    return {"tries": entry["tries"] if type(entry.get("tries")) is int else 0, "broken": broken} | dates


def _dict(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


@functools.cache
def _say_once(sentence: str) -> None:
    print(sentence)

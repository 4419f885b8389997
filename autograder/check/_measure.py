"""What a check measures beside whether it holds: for a leaderboard, never for points."""

from autograder.check import _backend

_measured: list[tuple[float, float]] = []


def processor_seconds() -> float:
    """Return the processor time that the process of the answers has taken, all its threads together, in seconds."""
    return _backend.current().processor_seconds()


def measured(seconds: float, value: float) -> None:
    """Keep one point of a curve: what was measured, and after how many processor seconds."""
    _measured.append((float(seconds), float(value)))


def take_measured() -> tuple[tuple[float, float], ...]:
    """Return what was measured since somebody last asked."""
    taken = tuple(_measured)
    _measured.clear()
    return taken

"""What the class page counts over the weeks, in hand-in times and in thirds is what one counts by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.gradebook.reader import GradedSubmission
from autograder.grading.results import Outcome, Result, Status
from autograder.report.analytics import FEWEST, Thirds, count_hand_in_times, count_thirds, count_turnout
from autograder.report.outline import CheckOutline, ExerciseOutline, LessonOutline

WEEKS = tuple(LessonOutline(f"0{number}", f"{number} · Lesson", ()) for number in range(1, 5))
DUE = datetime(2030, 1, 8, 12)
HOUR = timedelta(hours=1)
HARD = ExerciseOutline("hard", "1.1", "Hard", (CheckOutline("check_hard", "the check", 1.0),))
REST = ExerciseOutline("rest", "1.2", "Rest", (CheckOutline("check_rest", "the check", 10.0),))
TWO = LessonOutline("01", "1 · Two", (HARD, REST))


def turnout(handed_in: Mapping[str, str], has_time: Mapping[str, str] | None = None) -> list[tuple[object, ...]]:
    """Return who came, left out and stopped, and how many were absent, lesson by lesson; lessons are their digits."""
    pairs, open_pairs = (
        {(student, f"0{digit}") for student, digits in who.items() for digit in digits}
        for who in (handed_in, has_time or {})
    )
    counts = count_turnout(WEEKS, handed_in, pairs, open_pairs)
    return [(*map("".join, (one.handed_in, one.skipped, one.stopped)), one.absent) for one in counts]


def test_who_stopped_and_who_left_one_out() -> None:
    """a came always, b left 2 out, c stopped at 3, d at 4, e began with 3, and f never did."""
    assert turnout({"a": "1234", "b": "134", "c": "12", "d": "123", "e": "34", "f": ""}) == [
        ("abcd", "", "", 2),
        ("acd", "b", "", 2),
        ("abde", "", "c", 1),
        ("abe", "", "d", 2),
    ]


def test_who_has_time_left_has_not_stopped() -> None:
    """With time for lesson 4, d has stopped nowhere and is not expected there; what came before its date counts."""
    counts = turnout({"a": "1234", "d": "123", "g": "12"}, {"d": "4", "g": "34"})
    assert [one[2] for one in counts] == ["", "", "", ""]
    assert counts[3] == ("a", "", "", 0) and counts[2] == ("ad", "", "", 0)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.sampled_from("1234")), min_size=1))
def test_everybody_is_counted_once_in_each_lesson(handed_in: dict[str, set[str]]) -> None:
    """Who came, left out, stopped and was absent add up to all, and nobody stops twice."""
    counts = turnout({student: "".join(digits) for student, digits in handed_in.items()})
    for came, skipped, stopped, absent in counts:
        assert len(came) + len(skipped) + len(stopped) + absent == len(handed_in) and absent >= 0
        assert not set(came) & set(skipped + stopped)
    assert len(everybody := "".join(str(one[2]) for one in counts)) == len(set(everybody))
    assert set(everybody) == {student for student, digits in handed_in.items() if digits and "4" not in digits}


def submission(student: str, at: datetime | None) -> GradedSubmission:
    """Return a submission that was handed in then."""
    return GradedSubmission(student, "01", {}, submitted=at)


def test_hand_ins_stand_in_the_day_they_came() -> None:
    """The very moment is in time, a second later is late, and both ends hold what is further away."""
    hours = {"a": 24 * 30, "b": 24 * 7, "c": 24, "d": 23, "e": 6, "f": 0, "g": -1 / 3600, "h": -25, "i": -24 * 9}
    submissions = [submission(student, DUE - left * HOUR) for student, left in hours.items()] + [submission("j", None)]
    times = count_hand_in_times(TWO, submissions, dict.fromkeys("abcdefghij", DUE))
    assert [column.students for column in times.columns] == [2, 0, 0, 0, 0, 0, 1, 3, 1, 1, 1]
    assert (times.last_hours, times.late, times.unknown) == (2, ("g", "h", "i"), 1)
    assert times.words.startswith("7 days before or more: 2; 1 day before: 1; on the last day: 3; up to a day late: 1")


def test_more_time_moves_the_day() -> None:
    """Who was given two days more is not late after one; where no time is known, there is nothing to show."""
    late = [submission(student, DUE + 24 * HOUR) for student in "ab"]
    times = count_hand_in_times(TWO, late, {"a": DUE, "b": DUE + 48 * HOUR})
    assert times.late == ("a",) and sum(column.students for column in times.columns) == 2
    assert count_hand_in_times(TWO, [submission("a", None)], {"a": DUE}) is None


def a_class(verdicts: Sequence[bool | None], points: Sequence[float]) -> list[GradedSubmission]:
    """Return students who passed, failed or did not try the hard check, with these points in the rest."""
    states = {True: Status.PASSED, False: Status.FAILED, None: Status.NOT_ATTEMPTED}
    made = []
    for number, (verdict, rest) in enumerate(zip(verdicts, points, strict=True)):
        hard = Outcome("check_hard", 1.0, states[verdict])
        result = Result(f"s{number:03}", "01", (hard, Outcome("check_rest", 10.0, Status.PASSED)))
        scores = {"check_hard": hard.earned, "check_rest": rest}
        made.append(GradedSubmission(result.student, "01", scores, result=result))
    return made


def hard(verdicts: Sequence[bool | None], points: Sequence[float]) -> Thirds | None:
    """Return the thirds of the hard check."""
    return count_thirds([TWO], a_class(verdicts, points)).get(("01", "check_hard"))


def test_the_thirds_are_those_of_the_other_exercises() -> None:
    """Of thirty, the ten with most points elsewhere passed, of the ten with fewest two did; the check's own points do
    not make anybody strong.
    """
    points = [float(number) for number in range(30)]
    verdicts = [number >= 20 or number < 2 for number in range(30)]
    assert hard(verdicts, points) == Thirds(1.0, 0.2, 30)
    assert hard([not verdict for verdict in verdicts], points) == Thirds(0.0, 0.8, 30)


def test_equals_at_the_border_count_in_part() -> None:
    """Where a third's border cuts through students with the same points, their order does not matter."""
    points = [0.0] * 6 + [5.0] * 18 + [10.0] * 6
    verdicts = [False] * 6 + [True] * 6 + [False] * 12 + [True] * 6
    expected = Thirds(pytest.approx((6 + 4 * 6 / 18) / 10), pytest.approx((4 * 6 / 18) / 10), 30)
    assert hard(verdicts, points) == expected
    assert hard(verdicts[::-1], points[::-1]) == expected


def test_nothing_is_said_where_nothing_can_be_told() -> None:
    """Too few who tried, all of one verdict, all of one strength, no other exercise, or not gradable: no thirds."""
    points = [float(number) for number in range(FEWEST)]
    mixed = [number >= FEWEST // 2 for number in range(FEWEST)]
    assert hard(mixed, points) is not None
    assert hard([None, *mixed[1:]], points) is None
    assert hard([True] * FEWEST, points) is None
    assert hard(mixed, [3.0] * FEWEST) is None
    alone = replace(TWO, exercises=(HARD,))
    only = [replace(one, scores={"check_hard": one.scores["check_hard"]}) for one in a_class(mixed, points)]
    assert count_thirds([alone], only) == {}
    unread = [replace(one, result=Result(one.student, "01", reason="Empty.")) for one in a_class(mixed, points)]
    assert count_thirds([TWO], unread) == {}


def test_another_lesson_tells_who_is_strong() -> None:
    """A lesson of one exercise is measured by what the same students have in another."""
    verdicts = [number >= FEWEST // 2 for number in range(FEWEST)]
    first = [replace(one, scores={"check_hard": 0.0}) for one in a_class(verdicts, [0.0] * FEWEST)]
    second = [GradedSubmission(one.student, "02", {"check_rest": float(place)}) for place, one in enumerate(first)]
    lessons = [replace(TWO, exercises=(HARD,)), LessonOutline("02", "2", (REST,))]
    assert count_thirds(lessons, first + second)["01", "check_hard"] == Thirds(1.0, 0.0, FEWEST)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=FEWEST, max_size=60), st.randoms())
def test_thirds_are_shares_in_any_order(tries: list[tuple[bool, int]], chance: object) -> None:
    """Both shares lie from 0 to 1, and do not depend on who comes first or is called what."""
    found = hard(*zip(*tries, strict=True))
    chance.shuffle(tries)
    again = hard(*zip(*tries, strict=True))
    assert (found is None) == (again is None)
    if found and again:
        assert found == pytest.approx(again) and all(0 <= share <= 1 + 1e-9 for share in found[:2])


@pytest.mark.parametrize(("strongest", "weakest"), [(0.5, 0.5), (0.6, 0.4), (0.71, 0.97), (0.4, 0.7)])
def test_what_chance_explains_is_not_shown(strongest: float, weakest: float) -> None:
    """Of thirty, two or three in ten more on one side tell nothing, whichever side it is."""
    thirds = [number / 10 for number in range(10)]
    verdicts = [third < weakest for third in thirds] + [True] * 10 + [third < strongest for third in thirds]
    assert hard(verdicts, [0.0] * 10 + [1.0] * 10 + [2.0] * 10) is None
    assert Thirds(strongest, weakest, 3000).tells == (strongest != weakest)


def test_odd_is_what_chance_does_not_explain() -> None:
    """A small lead of the weaker is chance, a large one in a large class is not, and one of the stronger never is."""
    assert not Thirds(0.4, 0.6, 15).is_odd
    assert Thirds(0.4, 0.6, 600).is_odd
    assert not Thirds(0.6, 0.4, 600).is_odd

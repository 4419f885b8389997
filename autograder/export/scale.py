"""Points on another program's scale."""

from autograder.course.config import CourseError
from autograder.course.names import counted
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradedSubmission
from autograder.spreadsheets.sheet import number


def scaled(graded: GradedSubmission, lesson: GradebookLesson, maximum: float | None) -> str:
    """Write the points that count, on the scale of another program's maximum if there is one.

    Points of before the lesson changed are a part of what there was to earn then.
    """
    outcomes = graded.outcomes.values()
    own = lesson.max_score + sum(outcome.points - lesson.points.get(outcome.check, 0.0) for outcome in outcomes)
    return number(graded.score if maximum is None or not own else graded.score * maximum / own)


def maximum_for(text: str, lesson: GradebookLesson, where: str, *, scale: bool) -> float | None:
    """Read another program's maximum; None where it is the lesson's own, or where none is said.

    Raises:
        CourseError: it is another one, and points are not to be scaled.
    """
    maximum = _points(text)
    if maximum is None or abs(maximum - lesson.max_score) < 0.005:
        return None
    if scale and maximum > 0:
        return maximum
    raise CourseError(
        f"{lesson.name} has {counted(lesson.max_score, 'point')}, and {number(maximum)} in {where}. "
        "Change them there and download the file again" + ("." if scale else ", or give --scale to convert them.")
    )


def _points(text: str) -> float | None:
    """Read a number with a point or a comma."""
    text = text.strip()
    try:
        return float(text.replace(",", ".") if "." not in text else text.replace(",", "")) if text else None
    except ValueError:
        return None

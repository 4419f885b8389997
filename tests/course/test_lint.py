"""The grammar accepts a whole lesson and names every breach, its cell and what to do."""

from collections.abc import Callable
from typing import Any

import pytest
from support.sample_lesson import cell, code, markdown, sample_lesson

from autograder.course import lint
from autograder.course.lesson import EXAMPLE, Lesson

Notebook = dict[str, Any]
LESSON = "01_doubling"


def found(notebook: Notebook, lesson: str = LESSON) -> list[str]:
    """Return the breaches of a notebook as a person reads them."""
    return [str(breach) for breach in lint.breaches(notebook, lesson)]


def swap(name: str, old: str, new: str) -> Callable[[Notebook], None]:
    """Return a mutation that replaces a text in the source of one cell."""

    def mutate(notebook: Notebook) -> None:
        source = cell(notebook, name)["source"]
        assert old in source
        cell(notebook, name)["source"] = source.replace(old, new)

    return mutate


def source(name: str, text: str) -> Callable[[Notebook], None]:
    """Return a mutation that replaces the source of one cell."""
    return lambda notebook: cell(notebook, name).update(source=text)


def nbgrader(name: str, **values: Any) -> Callable[[Notebook], None]:
    """Return a mutation that changes the nbgrader metadata of one cell."""
    return lambda notebook: cell(notebook, name)["metadata"].setdefault("nbgrader", {}).update(values)


def as_text(name: str) -> Callable[[Notebook], None]:
    """Return a mutation that makes a cell of code one of text."""
    return lambda notebook: cell(notebook, name).update(cell_type="markdown")


def without_tags(name: str) -> Callable[[Notebook], None]:
    """Return a mutation that takes the tags of one cell away."""
    return lambda notebook: cell(notebook, name)["metadata"].pop("tags")


def insert(before: str, new: dict[str, Any]) -> Callable[[Notebook], None]:
    """Return a mutation that inserts a cell before another."""
    return lambda notebook: notebook["cells"].insert(notebook["cells"].index(cell(notebook, before)), new)


def remove(name: str) -> Callable[[Notebook], None]:
    """Return a mutation that removes one cell."""
    return lambda notebook: notebook["cells"].remove(cell(notebook, name))


def rename(name: str, new: str) -> Callable[[Notebook], None]:
    """Return a mutation that gives one cell another id, for nbgrader too."""

    def mutate(notebook: Notebook) -> None:
        changed = cell(notebook, name)
        changed["id"] = new
        if "nbgrader" in changed["metadata"]:
            changed["metadata"]["nbgrader"]["grade_id"] = new

    return mutate


LONG = "\n".join(f"    x = x + {n}" for n in range(16))
FITS = "# why\n\n" + "\n".join(f"    x = x + {n}" for n in range(13)) + "\n    return answer"
HIDDEN = '### BEGIN HIDDEN TESTS\nassert double(3) == 6, "hidden_secret"\n### END HIDDEN TESTS\n'
SECOND_HINT = "<details>\n<summary>My result is text</summary>\nIs the input text?\n</details>"
FACTS = "`**Paper:** §3.2.1 · **Exercises:** 1 · **Points:** 4 · **Time:** about {} minutes · **Runs in:** 5 seconds`"

BREACHES = {  # what is done to a lesson, the cell that is named then, and what is said of it
    "no title": (remove("title"), "title", "first cell", "id is `title`"),
    "wrong number": (swap("title", "# 1 ·", "# 2 ·"), "title", "`# 2 · Doubling`", "`# 1 · `"),
    "no promise": (swap("title", "You double a number by hand.", ""), "title", "not one sentence"),
    "two promises": (swap("title", "by hand.", "by hand.\nTwice."), "title", "not one sentence"),
    "promise without full stop": (swap("title", "by hand.", "by hand"), "title", "not one sentence"),
    "facts without paper": (swap("title", "**Paper:** §3.2.1", "**Paper:**"), "title", "**Paper:** §… · "),
    "facts count wrong": (swap("title", "Exercises:** 1", "Exercises:** 2"), "title", FACTS.format(20)),
    "facts points wrong": (swap("title", "Points:** 4", "Points:** 5"), "title", FACTS.format(20)),
    "facts time too short": (swap("title", "about 20", "about 10"), "title", FACTS.format(15)),
    "no setup": (remove("setup"), "setup", "second cell"),
    "setup is text": (as_text("setup"), "setup", "second cell"),
    "id missing": (lambda n: cell(n, "idea").pop("id"), "number 4", "id is missing"),
    "id invalid": (rename("idea", "my idea"), "my idea", "invalid"),
    "id twice": (rename("learned", "idea"), "idea", "2 cells"),
    "grade id twice": (nbgrader("check_double_text", grade_id="check_double"), "check_double", "2 cells"),
    "task not named": (rename("exercise_double", "task"), "task", "`exercise_`"),
    "task not numbered": (swap("exercise_double", "1.1", "1.2"), "exercise_double", "`### Exercise 1.1 · `"),
    "task without effort": (swap("exercise_double", "*4 points", "4 points"), "exercise_double", "second line"),
    "one hint": (swap("exercise_double", SECOND_HINT, ""), "exercise_double", "1 of two or three hints"),
    "hint without summary": (swap("exercise_double", "My result is text", " "), "exercise_double", "not whole"),
    "hint with code in its title": (swap("exercise_double", "is text", "is `x`"), "exercise_double", "has a backtick"),
    "hint not closed": (swap("exercise_double", "text?\n</details>", "text?"), "exercise_double", "not whole"),
    "no example": (swap("exercise_double", EXAMPLE, "I am lost"), "exercise_double", f"do not end in `{EXAMPLE}`"),
    "answer not next": (insert("double", markdown("aside", "Hm.")), "double", "right after it"),
    "answer named otherwise": (rename("double", "twice"), "twice", "`double`", "`twice`"),
    "answer graded": (nbgrader("double", grade=True), "double", "grade and locked false"),
    "answer locked": (nbgrader("double", locked=True), "double", "grade and locked false"),
    "answer without TODO": (swap("double", "# TODO: one", "# One"), "double", "no TODO"),
    "answer with TODO inside": (
        swap("double", "# TODO: one line is enough.\n    ### BEGIN SOLUTION", "### BEGIN SOLUTION\n    # TODO"),
        "double",
        "no TODO stands outside",
    ),
    "answer without region": (swap("double", "    ### BEGIN SOLUTION\n", ""), "double", "no whole solution"),
    "answer region open": (swap("double", "### END SOLUTION", ""), "double", "no whole solution"),
    "answer region nested": (swap("double", "return", "### BEGIN SOLUTION\n    return"), "double", "no whole solution"),
    "answer region misspelt": (swap("double", "### BEGIN SOL", "# BEGIN SOL"), "double", "no whole solution"),
    "answer too long": (swap("double", "    return answer", f"{LONG}\n    return answer"), "double", "18 lines"),
    "answer invalid": (swap("double", "x + x", "x +"), "double", "not valid Python", "line 5"),
    "answer warns": (swap("double", "x + x", "x is 'a'"), "double", "not valid Python"),
    "answer elsewhere": (swap("double", "def double", "def twice"), "double", "nothing defines `double`"),
    "answer without docstring": (swap("double", '"""Return twice x."""', ""), "double", "no docstring"),
    "answer breaks when stripped": (
        swap("double", "    ### BEGIN SOLUTION\n", "    if x:\n    ### BEGIN SOLUTION\n        x = x\n"),
        "double",
        "without its solution it is not valid Python",
    ),
    "no check": (insert("check_double", markdown("b", "## B")), "exercise_double", "nothing checks", "`check_double`"),
    "check named otherwise": (rename("check_double", "check_twice"), "check_twice", "Call it `check_double`"),
    "check not locked": (nbgrader("check_double", locked=False), "check_double", "locked"),
    "check not graded": (nbgrader("check_double", grade=False), "check_double", "graded"),
    "check worth nothing": (nbgrader("check_double", points=0), "check_double", "worth nothing"),
    "check is a score": (swap("check_double", 'print("✓ double")', "3"), "check_double", "`3`", "print"),
    "check of another number": (
        source("check_double", f'@check.exercise("1.2 double")\ndef it_doubles():\n    pass\n\n\n{HIDDEN}'),
        "check_double",
        '`@check.exercise("1.2 double")`',
        '"1.1 double"',
    ),
    "check is a score for students": (
        source("check_double", f"double(2)\n{HIDDEN.replace('assert', 'y = 1; assert')}"),
        "check_double",
        "`double(2)`",
    ),
    "nothing hidden": (swap("check_double", HIDDEN, ""), "exercise_double", "hides a test"),
    "everything hidden": (source("check_double", f"# Only here:\n{HIDDEN}"), "check_double", "students see no test"),
    "hidden region open": (swap("check_double", "### END HIDDEN TESTS\n", ""), "check_double", "not whole"),
    "hidden region cuts": (
        swap("check_double", HIDDEN, f"if True:\n    {HIDDEN.replace('assert', '    assert')}"),
        "check_double",
        "without its hidden tests",
    ),
    "code in between": (without_tags("try_double"), "try_double", "`try-it`"),
    "solution elsewhere": (swap("idea", "Twice", "### BEGIN SOLUTION"), "idea", "`BEGIN SOLUTION`"),
    "hidden tests in an answer": (swap("double", "# TODO", "### END HIDDEN TESTS TODO"), "double", "no place"),
    "marking scheme": (swap("idea", "Twice", "### BEGIN MARK SCHEME"), "idea", "no place"),
    "TODO elsewhere": (swap("idea", "Twice", "TODO: twice"), "idea", "TODO"),
    "nbgrader elsewhere": (nbgrader("learned", locked=True, grade_id="learned"), "learned", "no exercise"),
    "check outside": (insert("next", code("check_late", "print(1)", grade=True)), "check_late", "no exercise"),
    "no exercises": (remove("exercises"), "exercises", "third cell"),
    "exercises as text": (as_text("exercises"), "exercises", "third cell"),
    "no progress": (remove("progress"), "", "no cell `progress`"),
    "progress marked": (nbgrader("progress", locked=True), "progress", "no plain code cell"),
    "progress as text": (as_text("progress"), "progress", "no plain code cell"),
    "progress too early": (insert("learned", markdown("more", "More.")), "progress", "learned` does not follow"),
    "prediction without its tag": (without_tags("predict_length"), "predict_length", "tag `predict`"),
    "prediction without its id": (rename("predict_length", "length"), "length", "id `predict_…`"),
    "prediction as text": (as_text("predict_length"), "predict_length", "no code cell"),
    "prediction marked": (nbgrader("predict_length", grade_id="predict_length"), "predict_length", "nbgrader"),
    "prediction of another name": (rename("predict_length", "predict_size"), "predict_size", '`predicted_size = ""'),
    "prediction with an answer": (swap("predict_length", '""', '"4"'), "predict_length", "not one empty"),
    "prediction with a number": (swap("predict_length", '""', "0"), "predict_length", "not one empty"),
    "prediction without its kind": (source("predict_length", 'predicted_length = ""'), "predict_length", "what kind"),
    "prediction of two lines": (swap("predict_length", "?", "?\nx = 1"), "predict_length", "not one empty"),
    "prediction nobody compares": (remove("figure_length"), "predict_length", "`yours.compare(predicted_length, …)`"),
    "prediction only set again": (
        source("figure_length", "predicted_length = 3"),
        "predict_length",
        "later cell reads",
    ),
    "prediction compared too early": (
        lambda n: n["cells"].insert(9, n["cells"].pop(n["cells"].index(cell(n, "figure_length")))),
        "predict_length",
        "no later cell reads",
    ),
    "attachment": (lambda n: cell(n, "idea").update(attachments={"a.png": {}}), "idea", "attached"),
    "error output": (
        lambda n: cell(n, "try_double").update(outputs=[{"output_type": "error", "ename": "NameError"}]),
        "try_double",
        "NameError",
    ),
    "invalid code": (source("try_double", "double("), "try_double", "not valid Python"),
    "nothing learned": (remove("learned"), "", "`## What you learned`"),
    "learned without table": (source("learned", "## What you learned\nIt."), "learned", "no table"),
    "no next": (remove("next"), "learned", "`## Next`"),
    "next without link": (source("next", "## Next\n\nRest."), "next", "no link"),
}


def test_whole_lesson_has_no_breach() -> None:
    """A lesson that keeps the grammar is accepted."""
    assert found(sample_lesson()) == []


@pytest.mark.parametrize("breach", BREACHES.values(), ids=BREACHES)
def test_breach_is_named(breach: tuple[Any, ...]) -> None:
    """A breach is reported in one line that names the file, the cell and what is so."""
    mutate, named, *words = breach
    notebook = sample_lesson()
    mutate(notebook)
    reports = found(notebook)
    begins = f"solutions/{LESSON}/{LESSON}.ipynb{f', cell {named}' if named else ''}: "
    assert [r for r in reports if r.startswith(begins) and all(word in r for word in words)], reports
    assert all(r.startswith(f"solutions/{LESSON}/{LESSON}.ipynb") and "\n" not in r for r in reports)


@pytest.mark.parametrize("name", ["attention", "1_attention", "01-attention", "01_Attention", "01_"])
def test_lesson_is_named_like_the_others(name: str) -> None:
    """A folder that is not two digits and words is a breach."""
    assert "not a lesson's name" in "\n".join(found(sample_lesson(), name))


ALLOWED = {
    "one point": lambda n: (
        remove("check_double_text")(n),
        nbgrader("check_double", points=1)(n),
        swap("exercise_double", "*4 points · 15 minutes*", "*1 point · 1 minute*")(n),
        swap("title", "Points:** 4", "Points:** 1")(n),
    ),
    "a class": source(
        "double",
        'class double:\n    """Twice."""\n\n    def of(self, x):\n        # TODO: twice.\n'
        "        ### BEGIN SOLUTION\n        return x + x\n        ### END SOLUTION",
    ),
    "two regions": swap(
        "double", "    return answer", "    ### END SOLUTION\n    ### BEGIN SOLUTION\n    return answer"
    ),
    "fifteen lines": swap("double", "    return answer", FITS),
    "magics": source("try_double", "%matplotlib inline\n!ls\ndouble?"),
    "await": source("try_double", "await double(2)"),
    "text in between": insert("try_double", markdown("predict", "What will it print?")),
    "advice below the facts": swap("title", "5 seconds", "5 seconds\n\nRun it.\nThen read."),
    "more time": swap("title", "about 20", "about 90"),
    "checks without a last expression": swap("check_double_text", '\nprint("✓")', ""),
    "an id nbgrader does not share": lambda n: cell(n, "check_double").update(id="3f2a"),
    "code in the next section": lambda n: (
        insert("progress", markdown("more", "## More"))(n),
        insert("progress", code("figure", "double(1)"))(n),
    ),
    "a prediction in an exercise": lambda n: (
        insert("check_double", code("predict_sum", 'predicted_sum = ""  # a number', tags=["predict"]))(n),
        insert("check_double", code("try_sum", "print(predicted_sum)", tags=["try-it"]))(n),
    ),
    "a prediction compared inside a function": source("figure_length", "def f():\n    return predicted_length"),
    "three hints": swap("exercise_double", "Write", "<details><summary>I am lost</summary>Draw it.</details>\n\nWrite"),
}


@pytest.mark.parametrize("mutate", ALLOWED.values(), ids=ALLOWED)
def test_freedom_is_left(mutate: Callable[[Notebook], Any]) -> None:
    """What the grammar leaves free is no breach."""
    notebook = sample_lesson()
    mutate(notebook)
    assert found(notebook) == []


def test_second_exercise_counts_on() -> None:
    """Two exercises are told apart, and each is held to its own checks."""
    notebook = sample_lesson()
    second = [
        {**new, "source": new["source"].replace("1.1", "1.2").replace("double", "triple")}
        for new in sample_lesson()["cells"][4:9]
    ]
    for new in second:
        new["id"] = new["id"].replace("double", "triple")
        new["metadata"].get("nbgrader", {})["grade_id"] = new["id"]
    notebook["cells"][9:9] = second
    swap("title", "1 · **Points:** 4", "2 · **Points:** 8")(notebook)
    swap("title", "about 20", "about 30")(notebook)
    assert found(notebook) == []
    lesson = Lesson(LESSON, notebook)
    assert [exercise.name for exercise in lesson.exercises] == ["double", "triple"]
    cell(notebook, "check_triple")["metadata"]["nbgrader"]["points"] = 4
    reports = "\n".join(found(notebook))
    assert "**Points:** 9" in reports

"""Of the given cells only those run that something depends on."""

import pytest

from autograder.grading.submission.dependencies import unneeded


@pytest.mark.parametrize(
    ("cells", "idle"),
    [
        ([("import math", True), ("def f():\n    return math.pi", False)], set()),
        ([("import math", True), ("import re", True), ("def f():\n    return math.pi", False)], {1}),
        ([("n = 3", True), ("k = n + 1", True), ("def f():\n    return k", False)], set()),
        ([("n = [3]", True), ("n.append(4)", True), ("def f():\n    return n", False)], set()),
        ([("def f(): pass", False), ("print(f())", True), ("y = f()", True), ("print(y)", True)], {1, 2, 3}),
        ([("y = 1", True), ("print(y)", True), ("eval('y')", False)], set()),
        ([("%matplotlib inline", True), ("x = 1", True), ("x", False)], {0}),
        ([("x = 1", True), ("y = 1", True), ("%matplotlib inline\n%time print(x)\n!echo {y}", False)], {1}),
        ([("x = 1", True), ("y = 1", True), ("%%timeit -n 10\nz = y", False)], {0}),
        ([("x = 1", True), ("y = 1", True), ("%timeit -n 10 -r 3 y", False)], {0}),
        ([("x = 1", True), ("%%time\n%who", False)], set()),
        ([("x = 1", True), ("%time eval('x')", False)], set()),
        ([("x = 1", True), ("%pip install {x}", False)], set()),
        ([("x = 1", True), ("%run other.py", False)], set()),
        ([("x = 1", True), ("%pwd\nget_ipython().system()\nget_ipython().run_line_magic(a, *b)", False)], set()),
        ([("this is no Python", True), ("x = 1", False)], set()),
        ([("n = 3", True), ("def f(): pass\ndef g(): return n", True), ("def h(): return f()", False)], {0}),
        ([("n = 3", True), ("def f(): pass\ndef g(): return n", True), ("def h(): return g()", False)], set()),
        ([("n = 3", True), ("def f(): return g()\ndef g(): return n", True), ("def h(): return f()", False)], set()),
        ([("n = 3", True), ("def f(): return n\nk = f()", True), ("def h(): return k", False)], set()),
        ([("n = 3", True), ("def f(): pass\n@f\ndef g(): return n", True), ("def h(): return f()", False)], set()),
        ([("n = 3", True), ("def f(): pass\nclass C:\n    k = n", True), ("def h(): return f()", False)], set()),
        ([("f = yours.take('f')", True), ("f()", True), ("def h(): return f()", False)], {1}),
        ([("f = made('f')", True), ("f()", True), ("def h(): return f()", False)], set()),
    ],
)
def test_given_cells_run_when_something_depends_on_them(cells: list[tuple[str, bool]], idle: set[int]) -> None:
    """On a name that they bind, or on a variable that they may change."""
    assert unneeded(cells) == idle

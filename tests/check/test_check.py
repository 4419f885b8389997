"""The vocabulary of checks: what each statement accepts, what it rejects, and what it says."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from types import FunctionType

import numpy as np
import pytest
import torch
from support.classroom import run
from torch import nn

from autograder import check, data, parts
from autograder.check import CheckFailed, NotWritten, _compare, _translate
from autograder.check._errors import LONGEST_LINE

X = torch.tensor([[0.5, -1.25], [2.0, 0.0]])


def said(statement, *args, **kwargs) -> str:
    """What a statement says when it fails."""
    with pytest.raises(CheckFailed) as caught:
        statement(*args, **kwargs)
    return str(caught.value)


def test_a_message_has_a_verdict_aligned_numbers_and_the_slip() -> None:
    """A failing comparison reads exactly as the style guide shows it."""
    assert said(check.close, "x", X + torch.tensor([[0, 0], [1.0, 0]]), X, mistakes={"one is added": X + 1}) == (
        "✗ `x` has the wrong values.\n\n  expected  2.0000  at index (1, 0), where they differ most\n  got       3.0000"
    )
    assert said(check.close, "x", X + 1, X, mistakes={"one is added": X + 1}).endswith(
        "\n\nThese are the values you get when one is added."
    )


def test_rounding_passes_and_a_slip_ten_times_the_tolerance_does_not() -> None:
    """Noise of 1e-6 is accepted in float32, an error of 1e-3 is not."""
    check.close("x", X + 1e-6, X)
    assert "wrong values" in said(check.close, "x", X + 1e-3, X)
    check.close("x", X.double() + 1e-9, X.double())
    assert "wrong values" in said(check.close, "x", X.double() + 1e-4, X.double())


def test_a_count_has_no_decimals_and_a_phrase_no_backticks() -> None:
    """One whole number reads as one, and a name in words reads as a sentence."""
    assert "wrong value.\n\n  expected  15\n  got       18" in said(
        check.close, "x", torch.tensor(18.0), torch.tensor(15.0)
    )
    assert "✗ The count has the wrong value." in said(check.close, "the count", torch.tensor(18.0), torch.tensor(15.0))
    assert "✗ There are wrong values in the table." in said(check.close, "the table", X + 1, X)


def test_numbers_are_shown_with_as_many_digits_as_it_takes() -> None:
    """Two numbers that differ never read the same, and one that is not zero never reads as zero."""
    one = torch.tensor(1.0, dtype=torch.float64)
    assert "expected  1.000000\n  got       1.000040" in said(check.close, "x", one + 4e-5, one)
    assert "got       3e-08" in said(check.close, "x", torch.tensor(3e-8), torch.tensor(0.03))
    assert "expected  True\n  got       False" in said(check.equal, "x", torch.tensor(False), torch.tensor(True))


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "`x` is None.\n\nA function gives None"),
        (X.numpy(), "should be a torch.Tensor.\n\n  got  numpy.ndarray"),
        ([1.0], "got  list"),
        (X[0], "wrong shape.\n\n  expected  (2, 2)\n  got       (2,)"),
        (torch.full((2, 2), torch.nan), "`x` contains NaN.\n\n  first at index (0, 0)"),
        (X + torch.inf, "wrong values"),
        (X.to("meta"), "on the device meta, not on cpu"),
    ],
)
def test_what_is_no_such_tensor_has_a_verdict_of_its_own(got: object, words: str) -> None:
    """None, other types, shapes, NaN, infinities and devices are told apart."""
    assert words in said(check.close, "x", got, X)


def test_an_infinite_value_is_expected_exactly() -> None:
    """−∞ equals itself alone: no other number is near it, however wide the tolerances."""
    hidden = torch.tensor([0.5, -torch.inf])
    check.close("x", hidden.clone(), hidden)
    text = said(check.close, "x", torch.tensor([0.5, -3e38]), hidden)
    assert "expected  -inf  at index (1,)" in text and "got       -3e+38" in text


def test_a_slip_is_named_only_when_its_values_prove_it() -> None:
    """Other wrong values name nothing, and two slips that would give the same values name neither."""
    slips = {"one is added": X + 1, "it is doubled": 2 * X}
    assert "when it is doubled." in said(check.close, "x", 2 * X, X, mistakes=slips)
    assert "when" not in said(check.close, "x", 3 * X, X, mistakes=slips).removesuffix("where they differ most")
    assert "These are" not in said(check.close, "x", X + 1, X, mistakes=slips | {"the same again": X + 1})
    assert "when it is flat." in said(check.close, "x", X.flatten(), X, mistakes={"it is flat": X.flatten()})


def test_a_slip_that_cannot_be_told_from_the_right_answer_is_the_checks_own_bug() -> None:
    """In an audit, a mistake whose values equal the expected ones is a ValueError; a learner never meets it."""
    with check.audit(), pytest.raises(ValueError, match="the right answer from the mistake 'nothing'"):
        check.close("x", X, X, mistakes={"nothing": X.clone()})
    with check.audit(), pytest.raises(ValueError, match="cannot tell"):
        check.equal("x", X > 0, X > 0, mistakes={"nothing": X > 0})
    with check.audit(), pytest.raises(ValueError, match="cannot tell the right answer from the mistake 'nothing'"):
        check.same("f(x)", [1], [1], mistakes={"nothing": [1]})
    check.close("x", X, X, mistakes={"nothing": X.clone()})


def test_equal_reads_zero_and_one_as_a_mask() -> None:
    """A mask of integers has the right values, whatever its type; a single wrong entry is found and counted."""
    mask = torch.tensor([[True, False], [True, True]])
    check.equal("mask", mask.long(), mask)
    assert "at index (0, 1)" in said(check.equal, "mask", torch.ones(2, 2).bool(), mask)
    assert "one of 4 entries that differ" in said(check.equal, "mask", ~mask, mask)
    words = "mask` has the wrong dtype.\n\n  expected  torch.bool\n  got       torch.int64"
    assert words in said(check.dtype, "mask", mask.long(), torch.bool)


def test_shapes_are_named_by_their_dimensions() -> None:
    """A wrong shape is shown beside the right one and its names, with the slip that gives it."""
    check.shape("x", X, rows=2, columns=2)
    text = said(check.shape, "x", X.flatten(), rows=2, columns=2, mistakes={"it is flattened": (4,)})
    assert text == (
        "✗ `x` has the wrong shape.\n\n  expected  (2, 2)  (rows, columns)\n  got       (4,)\n\n"
        "This is the shape you get when it is flattened."
    )


def test_returns_counts_what_a_call_gives_back() -> None:
    """A tuple or list of the right number of tensors is handed on; a tensor is never unpacked along its batch."""
    assert check.returns("f(x)", [X, X], "output", "weights")[1] is X
    assert "`f(x)` should return 2 tensors, (output, weights)" in said(check.returns, "f(x)", X, "output", "weights")
    assert "got  one tensor of shape (2, 2)" in said(check.returns, "f(x)", X, "output", "weights")
    assert "got  a tuple of 3" in said(check.returns, "f(x)", (X, X, X), "output", "weights")
    assert "`weights` is None" in said(check.returns, "f(x)", (X, None), "output", "weights")


def test_number_takes_every_kind_of_number() -> None:
    """Python, NumPy and torch numbers are one thing; more than one number, or none, is refused."""
    for value in (0.5, np.float64(0.5), torch.tensor([0.5])):
        assert check.number("x", value) == 0.5
    for value in (X, "half", "0.5", None):
        assert "should be one number" in said(check.number, "x", value)


def test_raises_wants_the_right_error_that_says_enough() -> None:
    """No error, another error and a message without the numbers are three verdicts; a stub stays a stub."""

    def fail(error: Exception):
        raise error

    because = {"because": "7 is more than 5", "mentions": (7, 5)}
    check.raises("f()", ValueError, lambda: fail(ValueError("7 > 5")), **because)
    assert "should raise ValueError, because 7" in said(check.raises, "f()", ValueError, lambda: None, **because)
    assert "KeyError: 'x'" in said(check.raises, "f()", ValueError, lambda: fail(KeyError("x")), **because)
    wordless = said(check.raises, "f()", ValueError, lambda: fail(ValueError()), **because)
    assert "a message that holds 7 and 5" in wordless
    with pytest.raises(NotImplementedError):
        check.raises("f()", RuntimeError, lambda: fail(NotImplementedError()), **because)


def test_unchanged_notices_a_change_in_place() -> None:
    """Writing into a tensor is noticed, reading it is not."""
    x = X.clone()
    with check.unchanged(x=x):
        x + 1
    with pytest.raises(CheckFailed, match="Your code changes `x`"), check.unchanged(x=x):
        x += 1


def test_gradients_are_followed_back() -> None:
    """A detached, an unused and a zeroed input get no gradient; a used one does, also where outputs sum to one."""
    x = X.clone().requires_grad_()
    check.gradient_reaches("x", x, x.softmax(-1))
    for output in (x.detach() * 2, X.clone().requires_grad_() * 2):
        assert "No gradient flows back to `x`" in said(check.gradient_reaches, "x", x, output)
    assert "back to `x` is 0 everywhere" in said(check.gradient_reaches, "x", x, x * 0)


def test_parameters_are_exactly_those_wanted() -> None:
    """A missing, hidden, misshapen or additional parameter is named; a frozen one does not count."""
    layer = nn.Linear(3, 2)
    check.parameters("layer", layer, {"weight": (2, 3), "bias": (2,)})
    assert "no trainable parameter `w.weight`" in said(check.parameters, "layer", layer, {"w.weight": (2, 3)})
    assert "parameter `bias` has the wrong shape" in said(check.parameters, "layer", layer, {"bias": (3,)})
    assert "should not have: `bias`" in said(check.parameters, "layer", layer, {"weight": (2, 3)})
    holder = nn.Module()
    holder.layers = [layer]
    hidden = said(check.parameters, "holder", holder, {"layers.0.bias": (2,)})
    assert "not as a layer or parameter that PyTorch registers" in hidden
    assert "should be an nn.Module" in said(check.parameters, "f", lambda: None, {})
    layer.bias.requires_grad_(False)
    check.parameters("layer", layer, {"weight": (2, 3)})
    assert "`bias` is frozen" in said(check.parameters, "layer", layer, {"bias": (2,)})
    pair = nn.ModuleDict({"a": layer, "b": layer})
    both = {"a.weight": (2, 3), "b.weight": (2, 3)}
    assert "`b` is the same module as `a`" in said(check.parameters, "pair", pair, both)
    check.parameters("pair", pair, {"b.weight": (2, 3)})
    assert "`bias` is a parameter itself" in said(check.parameters, "layer", layer, {"bias.weight": (2,)})


def test_parameters_inside_a_part_have_names_that_learners_know() -> None:
    """A part that is missing, one too few and one of another class are told as such, without what they should hold."""
    model = nn.ModuleDict({"attend": nn.Linear(2, 2), "layers": nn.ModuleList([nn.Linear(2, 2)])})
    verdicts = {
        "attention.inner.in_proj.weight": "`model` has no part `attention`.",
        "attend.inner.in_proj.weight": "`attend` in `model` is another module than it should be.",
        "attend.inner.weight": "`attend` in `model` is another module than it should be.",
        "attend.factor": "`attend` in `model` has no trainable parameter `factor`.",
        "layers.1.weight": "`layers` in `model` has no part `1`.",
        "attention.weight": "`model` has no trainable parameter `attention.weight`.",
    }
    for key, verdict in verdicts.items():
        assert verdict in said(check.parameters, "model", model, {key: (2, 2)})


def test_a_buffer_is_neither_parameter_nor_attribute() -> None:
    """Each other way to keep a tensor has its own verdict."""
    module = nn.Module()
    module.register_buffer("kept", X)
    module.trained = nn.Parameter(X.clone())
    module.plain = X
    check.buffer("module", module, "kept")
    assert "is a parameter" in said(check.buffer, "module", module, "trained")
    module.register_buffer("empty", None)
    assert "`module.empty` is None" in said(check.buffer, "module", module, "empty")
    assert "not registered as a buffer" in said(check.buffer, "module", module, "plain")
    module.layer = nn.Embedding.from_pretrained(X)
    assert "is a layer; it should be a buffer" in said(check.buffer, "module", module, "layer")
    assert "`module` has no buffer `other`" in said(check.buffer, "module", module, "other")


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_ready_made_layers_are_noticed_under_any_name(grad: bool, training: bool) -> None:
    """PyTorch's attention, multi-head attention and layer norm are noticed as functions, aliases and modules."""
    x = torch.randn(2, 3, 8)
    alias = torch.nn.functional.scaled_dot_product_attention
    heads = nn.MultiheadAttention(8, 2, batch_first=True).train(training)
    calls = {
        "F.scaled_dot_product_attention": lambda: alias(x, x, x),
        "nn.MultiheadAttention": lambda: heads(x, x, x),
        "nn.LayerNorm": lambda: nn.LayerNorm(8)(x),
    }
    for name, call in calls.items():
        with torch.set_grad_enabled(grad):
            with pytest.raises(CheckFailed, match="ready"), check.without(name, instead="your own"):
                call()
            others = [other for other in calls if other != name]
            with check.without(*others[:1], instead="your own"):
                x @ x.mT


def test_ready_made_operators_are_noticed() -> None:
    """PyTorch's own operators, below its functions, are noticed as packets, overloads and by other processors' ways."""
    x = torch.randn(1, 2, 3, 8)
    operators = torch.ops.aten
    for call in (
        lambda: operators.scaled_dot_product_attention(x, x, x),
        lambda: operators.scaled_dot_product_attention.default(x, x, x),
        lambda: operators._scaled_dot_product_flash_attention_for_cpu(x, x, x),
        lambda: torch._scaled_dot_product_attention_math(x, x, x),
    ):
        with (
            pytest.raises(CheckFailed, match=r"ready `F\.scaled_dot_product_attention`"),
            check.without("F.scaled_dot_product_attention", instead="your own"),
        ):
            call()
    with pytest.raises(CheckFailed, match=r"ready `nn\.LayerNorm`"), check.without("nn.LayerNorm", instead="your own"):
        operators.native_layer_norm(x, (8,), None, None, 1e-5)


def test_differs_wants_a_change() -> None:
    """Values that stay the same are named with the reason why they should not."""
    check.differs("f(x)", X, X + 1, when="x changes")
    assert "`f(x)` stays the same when x changes." in said(check.differs, "f(x)", X, X + 1e-9, when="x changes")


def test_an_exercise_prints_one_line_and_returns_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A passing check prints the exercise and its own name in words, and leaves nothing behind."""

    @check.exercise("1.1 f")
    def it_adds_up():
        check.true(True, "never said")

    assert it_adds_up is None
    assert capsys.readouterr().out == "✓ 1.1 f: it adds up.\n"


def test_warnings_and_stderr_of_an_answer_cost_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """What an answer writes to stderr goes to stdout, and its warnings nowhere."""

    @check.exercise("1.1 f")
    def it_is_noisy():
        warnings.warn("an answer's warning", stacklevel=1)
        print("an answer's print", file=sys.stderr)

    out, err = capsys.readouterr()
    assert out.startswith("an answer's print\n✓") and err == ""


def test_a_check_has_its_own_random_state_and_leaves_the_other_alone() -> None:
    """Whatever the global seed, a check draws the same numbers, and the notebook's own draws go on undisturbed."""
    drawn = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.get_rng_state()

        @check.exercise("1.1 f")
        def it_draws():
            drawn.append(torch.rand(3))

        assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(*drawn)


def test_a_check_computes_in_float32_and_on_the_cpu_whatever_the_defaults() -> None:
    """A default dtype and device that the learner has set do not change a check, and are theirs again afterwards."""
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:

        @check.exercise("1.1 f")
        def it_uses_float32_on_the_cpu():
            check.dtype("x", torch.ones(2), torch.float32)
            check.close("x", torch.ones(2), data.normal((2,), seed=1) * 0 + 1)

        assert torch.get_default_dtype() == torch.float64 and torch.get_default_device().type == "meta"
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)


def test_what_a_check_uses_is_the_courses_and_what_an_answer_uses_the_notebooks() -> None:
    """A scratch variable with the name of a module of the setup, or of one of Python's own, costs nothing."""
    scope = {"check": check, "data": [1, 2], "len": 3, "math": 4}
    exec(
        "def f():\n    return data\n\n@check.exercise('1.1 f')\n"
        "def it_works():\n    check.true(len(f()) == 2 and data.PAD == 0 and math.pi > 3, 'no')",
        scope,
    )
    assert (scope["data"], scope["len"], scope["math"]) == ([1, 2], 3, 4)


def test_a_line_that_fails_because_of_a_scratch_variable_says_so() -> None:
    """An answer that reads `F` after a variable took its name is told which name it is."""
    answer = "def f(x):\n    F.relu(x)"
    assert "`F` is no longer" not in str(failing(answer))
    assert "`F` is no longer torch.nn.functional" in str(failing(answer, F=[1]))


def test_neighbours_are_replaced_and_put_back() -> None:
    """`given` stands in for the notebook's own names during the check only, also for names that did not exist."""
    scope = {"check": check, "neighbour": lambda: "mine"}
    exec(
        "@check.exercise('1.2 f', given={'neighbour': lambda: 'right', 'other': 1})\n"
        "def it_uses_the_right_one():\n    check.true(neighbour() == 'right' and other == 1, 'no')",
        scope,
    )
    assert scope["neighbour"]() == "mine" and "other" not in scope


def failing(answer: str, body: str = "f(1)", **scratch: object) -> CheckFailed:
    """The verdict on an answer cell under a check cell that calls it, in a notebook with scratch variables."""
    scope = {"check": check, "torch": torch, **scratch}
    run(answer, "answer", scope)
    with pytest.raises(CheckFailed) as caught:
        run(f"@check.exercise('1.1 f')\ndef it_works():\n    {body}", "check", scope)
    return caught.value


def test_an_exception_is_told_with_the_learners_own_line() -> None:
    """The innermost line that the learner wrote is named, not PyTorch's and not the check's."""
    verdict = failing("def g(x):\n    return torch.ones(2) @ torch.ones(3)\ndef f(x):\n    return g(x)")
    assert str(verdict).startswith("✗ `g` raised RuntimeError.\n\n  inconsistent tensor size")
    assert "in line 2 of its cell" in str(verdict)
    assert "in line 1 of its cell" in str(failing("f = lambda x: x / 0"))


@pytest.mark.parametrize(
    ("line", "advice"),
    {
        "1 if torch.ones(2) else 0": "`mask is not None` is one;",
        "torch.nn.Linear(9, 4)(torch.ones(2, 3))": "is 3 wide, and the layer or matrix it meets takes 9.",
        "torch.ones(2, 3) + torch.ones(2, 4)": "differ in dimension 1: 3 entries in one, 4 in the other.",
        "torch.ones(4, 2, 3)[torch.ones(2, 3) > 0]": "An index does not broadcast",
        "torch.nn.Linear(3, 3)(torch.nn.ReLU(x))": "`nn.ReLU(…)` makes a layer",
        "torch.sqrt(3)": "for a number there is the one of `math`",
        "__import__('math').exp(torch.ones(2))": "work on every entry",
        "torch.nn.LayerNorm(2).register_buffer('training', x)": "leave the other line out",
        "torch.ones(2).__setitem__(0, [1])": "Make a tensor of it first",
        "torch.ones(2, 3).mT.view(6)": "`reshape` can",
        "(torch.ones(2), 1).sum()": "is a tuple, not a tensor",
    }.items(),
)
def test_frequent_errors_are_told_in_a_learners_words(line: str, advice: str) -> None:
    """What PyTorch says stays, and below it stands what is so."""
    assert advice in str(failing(f"def f(x):\n    return {line}"))


def test_an_exception_in_the_call_itself_names_the_line_of_the_check() -> None:
    """An error that no line of the learner's raised is given with the check's own line."""
    assert "cannot go on with your answer.\n\n  TypeError: 'int' object" in str(failing("f = 3"))


def test_a_name_that_the_course_lacks_is_the_courses_mistake() -> None:
    """What is missing in its modules is not told as if the answer were the reason; what the notebook lacks is."""
    course = "✗ The check itself is broken: this is a mistake of the course."
    answer = "from autograder import exercises\ndef f(x):\n    return x"
    for body in ("check.nothing(f(1))", "exercises.nothing.cases(f)", "exercises.causal_mask.nothing(f)"):
        assert str(failing(answer, body)).startswith(course)
    assert str(failing(answer, "exec('nothing', vars(exercises.causal_mask))")).startswith(course)
    assert course not in str(failing(answer, "nothing")) and course not in str(failing(answer, "f(torch).nothing"))


def test_an_answer_of_another_form_is_told_so() -> None:
    """A signature that does not fit the call, and an attribute that is missing, have verdicts of their own."""
    verdict = str(failing("def f():\n    pass"))
    assert verdict.startswith("✗ Your answer does not take the arguments that it is called with.\n\n  f() takes 0")
    assert "f() got an unexpected keyword argument 'y'" in str(failing("def f(x):\n    pass", body="f(x=1, y=2)"))
    assert "does not take" not in str(failing("def f(x):\n    pass", body="torch.relu(f(1))"))
    assert "✗ PyTorch's `ReLU` does not take" in str(failing("f = torch.nn.ReLU()", body="f(1, y=2)"))
    answer = "class f(torch.nn.Module):\n    pass"
    assert "✗ `f` has no attribute `w_q`." in str(failing(answer, body="f().w_q"))


def test_a_stub_is_not_written_yet_wherever_it_is_met() -> None:
    """The innermost unwritten answer is named, as a NotImplementedError that reads as one sentence."""
    verdict = failing("def g(x):\n    raise NotImplementedError\ndef f(x):\n    return g(x)")
    assert isinstance(verdict, NotWritten) and isinstance(verdict, NotImplementedError)
    assert str(verdict).startswith("✗ `g` is not written yet.\n\nPut your answer in place of")


def test_a_verdict_has_no_stack_trace_and_at_most_eight_lines() -> None:
    """Even a very long error of an answer becomes a short text, which IPython shows instead of a trace."""
    verdict = failing("def f(x):\n    raise ValueError('\\n'.join(['long ' * 100] * 50))")
    lines = verdict._render_traceback_()
    assert lines == str(verdict).splitlines() and len(lines) <= 8
    assert max(map(len, lines)) <= 170
    assert verdict.__cause__ is None and verdict.__suppress_context__


def test_only_exceptions_become_verdicts() -> None:
    """Interrupting a check interrupts it."""
    with pytest.raises(KeyboardInterrupt):

        @check.exercise("1.1 f")
        def it_is_interrupted():
            raise KeyboardInterrupt


def test_numbers_are_python_numbers() -> None:
    """As many as named, NumPy's included; a tensor, a text or another count is told apart."""
    loss, accuracy = check.numbers("f()", (1.5, np.float64(0.25)), "loss", "accuracy")
    assert loss == torch.tensor(1.5) and accuracy == torch.tensor(0.25)
    assert "should return 2 numbers, (loss, accuracy)" in said(check.numbers, "f()", 1.5, "loss", "accuracy")
    assert "`.item()`" in said(check.numbers, "f()", (torch.tensor(1.0), 1.0), "loss", "accuracy")


def test_layers_are_in_a_list_that_pytorch_knows() -> None:
    """A plain list, a wrong count and a layer of another class each have a verdict."""
    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    check.layers("layers", nn.ModuleList(layers), nn.Linear, 2)
    assert "PyTorch finds no layers in a plain list" in said(check.layers, "layers", layers, nn.Linear, 2)
    assert "expected  3\n  got       2" in said(check.layers, "layers", nn.ModuleList(layers), nn.Linear, 3)
    assert "class ReLU" in said(check.layers, "layers", nn.ModuleList(layers), nn.ReLU, 2)
    own = type("ReLU", (nn.Module,), {})()
    assert "write `ReLU(…)` where you make them" in said(check.layers, "layers", nn.ModuleList([own]), nn.ReLU, 1)


def test_one_layer_many_times_is_named_for_what_it_is() -> None:
    """A list that holds one layer again and again is told so, and so is a module whose parameters are all frozen."""
    stack = nn.ModuleDict({"layers": nn.ModuleList([nn.Linear(2, 2)] * 3)})
    wanted = {f"layers.{i}.{key}": shape for i in range(3) for key, shape in {"weight": (2, 2), "bias": (2,)}.items()}
    assert "In `stack`, all layers share their parameters." in said(check.parameters, "stack", stack, wanted)
    frozen = nn.Linear(2, 2).requires_grad_(False)
    assert "All parameters of `frozen` are frozen." in said(check.parameters, "frozen", frozen, {"weight": (2, 2)})


def test_heads_and_rates_are_those_asked_for() -> None:
    """Each is told with what was asked for."""
    layer = nn.TransformerEncoderLayer(6, 2, 4, dropout=0.5)
    check.settings("layer", layer, num_heads=2, dropout=0.5)
    told = said(check.settings, "layer", layer, num_heads=3, dropout=0.5)
    assert "With num_heads=3 the layers of `layer` have 2 heads." in told
    told = said(check.settings, "layer", layer, num_heads=2, dropout=0.1)
    assert "With dropout=0.1 the parts of `layer` drop out at 0.5." in told


def test_what_has_to_stay_says_when_it_changes() -> None:
    """The slip is the known mistake where the values prove one, and the given one otherwise."""
    told = {"when": "y does", "slip": "It leaks.", "mistakes": {"one is added": X + 1}}
    check.stays("x", X, X.clone(), **told)
    assert "`x` changes when y does." in said(check.stays, "x", X + 2, X, **told)
    assert "It leaks." in said(check.stays, "x", X + 2, X, **told)
    assert "you get when one is added" in said(check.stays, "x", X + 1, X, **told)


def test_nan_is_not_taken_for_a_change() -> None:
    """A tensor that held NaN before and after is unchanged; NaN in a result is told wherever NaN was expected."""
    strange = torch.tensor([1.0, torch.nan])
    with check.unchanged(x=strange):
        pass
    assert "contains NaN" in said(check.close, "x", strange, strange)


def rule_among(**scope: object) -> Callable[[], None]:
    """A check that asks for nothing, in a notebook with these names."""
    return FunctionType((lambda: None).__code__, {"__builtins__": __builtins__, "parts": parts} | scope, "rule")


def test_a_finished_part_is_no_answer() -> None:
    """An answer that is the course's own part, derives from it or calls it under any name is told so."""

    def calls(predicted, expected):
        return parts.exact_match(predicted, expected)

    def renamed(predicted, expected):
        return [ready(p, e) for p, e in zip(predicted, expected, strict=True)]  # noqa: F821

    def under_an_alias(predicted, expected):
        return ap.exact_match(predicted, expected)  # noqa: F821

    def imported(predicted, expected):
        from autograder.parts import exact_match as ready

        return ready(predicted, expected)

    for scope in (
        {"exact_match": parts.exact_match},
        {"exact_match": under_an_alias, "ap": parts},
        {"exact_match": imported},
        {"exact_match": calls},
        {"exact_match": renamed, "ready": parts.exact_match},
        {"exact_match": type("Own", (), {"forward": calls})},
    ):
        assert "finished `parts.exact_match`" in said(check.exercise("7.3 exact_match"), rule_among(**scope))


def test_an_answer_may_use_other_parts_and_its_own_name() -> None:
    """What calls another finished part, and itself, is the learner's own work."""

    def exact_match(predicted, expected, deep=True):
        return exact_match(predicted, expected, False) if deep else parts.evaluate(predicted, expected)

    check.exercise("7.3 exact_match")(rule_among(exact_match=exact_match))


def test_a_parameter_under_another_name_is_found() -> None:
    """When one matrix serves twice, the missing name is told to be the same parameter as the other."""
    model = nn.ModuleDict({"one": nn.Linear(2, 2), "two": nn.Linear(2, 2)})
    model["two"].weight = model["one"].weight
    wanted = {"one.weight": (2, 2), "one.bias": (2,), "two.weight": (2, 2), "two.bias": (2,)}
    assert "`two.weight` is the same parameter as `one.weight`" in said(check.parameters, "model", model, wanted)


def test_gradients_are_compared_with_a_right_answers() -> None:
    """A gradient that is missing and one that is wrong have verdicts; the right one passes."""
    x = X.clone().requires_grad_()
    check.gradients_agree("y", x.square(), x * x, x=x)
    assert "No gradient flows back to `x`" in said(check.gradients_agree, "y", x.detach().square(), x * x, x=x)
    assert "the gradient of `y` in `x`" in said(check.gradients_agree, "y", x * x.detach(), x * x, x=x)


def test_modules_of_one_class_share_nothing() -> None:
    """Two layers with weights of their own pass, two with one weight do not."""
    one, other = nn.Linear(2, 2), nn.Linear(2, 2)
    check.separate("Linear(2, 2)", one, other)
    other.weight = one.weight
    assert "share their parameter `weight`" in said(check.separate, "Linear(2, 2)", one, other)


def as_before_2_12(x: torch.Tensor) -> torch.Tensor:
    """Meet a tensor that was made on the CPU, in the words of older versions of PyTorch."""
    raise RuntimeError("Unhandled FakeTensor Device Propagation for aten.add, found two different devices cuda:0, cpu")


def test_tensors_are_made_where_the_inputs_are() -> None:
    """A tensor that is made on the CPU shows without another device; numbers without dimensions may stay there."""

    class Positions(nn.Module):
        def __init__(self, where: str) -> None:
            super().__init__()
            self.table, self.where = nn.Embedding(9, 2), where
            self.kept = torch.arange(9)

        def forward(self, x):
            numbers = {"cpu": torch.arange(2), "kept": self.kept[:2], "x": torch.arange(2, device=x.device)}
            return x + self.table(numbers[self.where])

    check.device("layer(x)", Positions("x"), X)
    check.device("f(x)", lambda x: x / torch.tensor(2.0), X)
    check.device("f(x)", lambda x: torch.tensor(x.tolist()), X)  # asks for numbers: cannot be judged
    for where in ("cpu", "kept"):
        assert "uses a tensor on the CPU" in said(check.device, "layer(x)", Positions(where), X)
    assert "uses a tensor on the CPU" in said(check.device, "f(x)", lambda x: x + torch.ones(2), X)
    assert "uses a tensor on the CPU" in said(check.device, "f(x)", as_before_2_12, X)
    assert "is on the device cpu" in said(check.device, "f(x)", lambda x: torch.ones(2), X)


def test_a_first_verdict_imports_nothing_heavy() -> None:
    """Gradients, and devices where an answer only cuts, are looked at without SymPy, Dynamo and Matplotlib."""
    code = """if True:
        import sys, torch
        before = set(sys.modules)
        from autograder import check, data, draw, exercises, parts, yours
        x = torch.ones(2, 3, requires_grad=True)
        check.gradients_agree("2 * x", 2 * x, x + x, x=x)
        check.device("shifted(x)", lambda x: (x[:, :-1], x[:, 1:]), x)
        print(*{"sympy", "torch._dynamo", "matplotlib"} & (set(sys.modules) - before))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n", done.stdout


@pytest.mark.parametrize("question", [torch.all, torch.any])
def test_a_loop_that_asks_yes_or_no_is_followed(question: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Tensors of a loop that goes on until, or while, something holds are looked at, too."""

    def grow(x: torch.Tensor, where: torch.device) -> torch.Tensor:
        ended = torch.zeros(len(x), dtype=torch.bool, device=where)
        for _ in range(3):
            x = x.masked_fill(ended[:, None], 0.0) if question(ended) else x + ended[:, None]
        return x

    check.device("f(x)", lambda x: grow(x, x.device), X)
    assert "uses a tensor on the CPU" in said(check.device, "f(x)", lambda x: grow(x, torch.device("cpu")), X)


def test_a_device_is_asked_of_a_module_that_comes_back_as_it_was() -> None:
    """Not even a layer of two names, or a parameter of two layers, keeps anything of the tensors without numbers."""
    layer = nn.Linear(X.size(-1), X.size(-1))
    twice = nn.Sequential(layer, layer, nn.Linear(X.size(-1), X.size(-1)))
    twice[2].weight = layer.weight
    before = dict(twice.named_parameters(remove_duplicate=False))
    check.device("twice(x)", twice, X)
    after = dict(twice.named_parameters(remove_duplicate=False))
    assert all(after[name] is parameter for name, parameter in before.items())
    twice.double()(X.double())


def test_defaults_are_kept() -> None:
    """Another default is told; an argument without one, or that is not there, is the business of other checks."""

    def attend(query, mask=None, dropout=0.5):
        pass

    check.defaults("attend", attend, query=1, mask=None, other=2)
    assert "another default for `dropout`" in said(check.defaults, "attend", attend, dropout=0.1)


def test_a_mode_is_that_of_all_parts() -> None:
    """A module of which one part has changed its mode is not as it was."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)).eval()
    check.mode("f(model)", model, False)
    model[1].train()
    assert "out of eval mode" in said(check.mode, "f(model)", model, False)


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (lambda: torch.manual_seed(1), "seeds PyTorch's random numbers"),
        (lambda: torch.set_grad_enabled(False), "switches gradients off"),
        (lambda: torch.set_default_dtype(torch.float64), "default dtype"),
    ],
)
def test_what_all_of_pytorch_shares_stays_as_it_was(does, words: str) -> None:
    """An answer that seeds, switches gradients off or changes the default dtype is told so, and nothing of it stays."""

    def rule() -> None:
        does()

    assert words in said(check.exercise("1.1 f"), rule)
    assert torch.is_grad_enabled() and torch.get_default_dtype() == torch.float32


def test_every_sentence_drops_entries_of_its_own() -> None:
    """One dropout mask for the whole batch is told as such."""
    before = torch.ones(3, 40, 8)
    one = nn.functional.dropout(torch.ones(1, 40, 8), 0.5)
    assert "every sentence drops the same entries" in said(check.dropout, "x", before * one, before, 0.5)


def test_margins_measure_distances_in_tolerances() -> None:
    """The greatest distance of each comparison is collected as a multiple of what is allowed."""
    with _compare.margins() as distances:
        check.close("x", X, X)
        said(check.close, "x", X + 0.01, X, rtol=0.0, atol=0.001)
    assert distances == [0.0, pytest.approx(10, rel=1e-4)]


def test_one_backward_pass_tells_of_all_gradients() -> None:
    """Of several sources the first that no gradient reaches is named; unused and constant outputs are told as well."""
    x, y, z = (torch.ones(2, requires_grad=True) for _ in range(3))
    check.gradients_reach({"x": x, "y": y}, x * y)
    assert "No gradient flows back to `y`" in said(check.gradients_reach, {"x": x, "y": y, "z": z}, x + y.detach())
    assert "No gradient flows back to `x`" in said(check.gradients_reach, {"x": x}, torch.ones(2))
    assert "The result is no tensor" in said(check.gradients_reach, {"x": x}, None)


def test_lists_and_texts_are_the_same_whatever_holds_them() -> None:
    """Tuples are as good as lists and NumPy's integers as Python's; anything else says what is there."""
    check.same("pairs", (("a", "b"), ["c", "d"]), [("a", "b"), ("c", "d")])
    check.same("ids", [np.int64(3), 4], [3, 4])
    assert said(check.same, "f(x)", ["a"], ["a", "b"], mistakes={"the last is lost": ["a"]}) == (
        "✗ `f(x)` is not what it should be.\n\n  expected  ['a', 'b']\n  got       ['a']\n\n"
        "These are the values you get when the last is lost."
    )
    assert "There is only None for the ids" in said(check.same, "the ids", None, [1])
    assert "`f(x)` should be a list.\n\n  got  str" in said(check.same, "f(x)", "ab", ["a", "b"])
    assert "`f(x)` should be a text.\n\n  got  builtin" not in said(check.same, "f(x)", ["a"], "a")
    assert "got       [<one tensor of shape ()>]" in said(check.same, "f(x)", [torch.tensor(3)], [3])
    assert "got       5" in said(check.same, "f(x)", 5, 6)


def test_long_lists_show_where_they_begin_to_differ() -> None:
    """Four items of each from that place on, and how many there are where that differs."""
    wanted = list(range(100))
    text = said(check.same, "f(x)", [*wanted[:40], -1, *wanted[41:]], wanted)
    assert "expected  [40, 41, 42, 43] …  from place 40 on\n  got       [-1, 41, 42, 43] …" in text
    text = said(check.same, "f(x)", wanted[:-1], wanted)
    assert "expected  [99]  from place 99 on\n  got       []  (99 in all, not 100)" in text


def test_memory_that_nobody_has_written_to_is_nan_in_the_check_of_a_class() -> None:
    """Zeros that happen to be there help nobody, and afterwards all is as it was."""
    seen = []
    check.exercise("1.1 Nobody")(lambda: seen.append(torch.empty(1000)))
    assert seen[0].isnan().all()
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_verdict_is_bounded_whatever_an_answer_is_called() -> None:
    """Names, values and errors come from answers, and may have any length; of each a line keeps so much."""
    failed = CheckFailed("v" * 10**6, ["d" * 10**6] * 2, "s" * 10**6)
    assert len(failed.message) < 5 * LONGEST_LINE


@pytest.mark.parametrize(
    ("given", "says"), [(nn.Identity(), "of the type Identity, has no `norm`"), ([], "list where a tensor should be")]
)
def test_a_part_of_another_kind_is_no_tensor(given: object, says: str) -> None:
    """What only a layer of the exercise has is missed in another layer, even where tensors have something so called."""
    verdict = _translate._misfit(AttributeError("no norm", name="norm", obj=given), {})
    assert verdict is not None and says in str(verdict)

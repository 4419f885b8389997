"""The panel of a failing check: what it says and draws, where it appears, and that nothing of an answer acts in it."""

import gc
import json
import os
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
import torch
from IPython.core.displaypub import CapturingDisplayPublisher, DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from support.sample_lesson import ROOT
from torch import nn
from traitlets.config import Config

from autograder import check, parts
from autograder.check import CheckFailed, NotWritten, _panel
from autograder.check._panel import Sizes, Values
from autograder.check._panel.scale import THICK, THIN

X = torch.tensor([[0.5, -1.25], [2.0, 0.0]])
WEIGHTS = torch.tensor([[[0.2, 0.8], [0.5, 0.5]], [[0.1, 0.9], [0.7, 0.3]]])
CAUSAL = parts.causal_mask(4)
ALLOWED_TAGS = {"b", "caption", "code", "div", "i", "pre", "table", "tbody", "td", "th", "thead", "tr"}
ALLOWED_ATTRIBUTES = {"aria-label", "role", "scope", "style"}


def broken(answer: str) -> Callable[[], None]:
    """A check of an answer that ends in an exception."""
    scope: dict = {}
    exec(compile(answer, "<cell answer>", "exec"), scope)
    return lambda: scope["f"](1)


def unchanged() -> None:
    x = X.clone()
    with check.unchanged(x=x):
        x += 1


KINDS: dict[str, Callable[[], object]] = {
    "values": lambda: check.close("x", 2 * X, X, mistakes={"it is doubled": 2 * X}),
    "values without a slip": lambda: check.close("weights", WEIGHTS.flip(-1), WEIGHTS),
    "mask": lambda: check.equal("causal_mask(4)", CAUSAL.T, CAUSAL),
    "numbers in a mask": lambda: check.equal("mask", (~CAUSAL).long(), CAUSAL),
    "tokens": lambda: check.equal("labels", torch.tensor([3, 4, 2]), torch.tensor([4, 2, 0])),
    "one number": lambda: check.close("loss", torch.tensor(1.5), torch.tensor(2.5)),
    "bfloat16": lambda: check.close("x", (2 * X).bfloat16(), X.bfloat16()),
    "infinity": lambda: check.close("x", X + torch.inf, X),
    "NaN": lambda: check.close("x", X.log(), X),
    "nothing in it": lambda: check.equal("x", torch.ones(0, 2), torch.ones(0, 3)),
    "shape": lambda: check.shape("x", X, batch=2, seq_len=3, mistakes={"it is cut": (2, 2)}),
    "dimensions": lambda: check.close("x", X.flatten(), X),
    "dtype": lambda: check.dtype("x", X, torch.bool),
    "device": lambda: check.close("x", X.to("meta"), X),
    "None": lambda: check.close("x", None, X),
    "no tensor": lambda: check.close("x", [1.0], X),
    "returns": lambda: check.returns("f(x)", X, "output", "weights"),
    "number": lambda: check.number("loss", "1.5"),
    "raises": lambda: check.raises("f()", ValueError, lambda: {}[0], because="7 is more than 5"),
    "unchanged": unchanged,
    "gradient": lambda: check.gradient_reaches("x", X, 2 * X),
    "differs": lambda: check.differs("f(x)", X, X, when="x changes"),
    "dropout": lambda: check.dropout("x", X, X, 0.5),
    "parameters": lambda: check.parameters("layer", nn.Linear(2, 3), {"w_q.weight": (2, 2)}),
    "true": lambda: check.true(False, "`count(model)` counts a shared parameter twice.", "It is `one` tensor."),
    "exception": broken("def f(x):\n    return {}['<b>']"),
    "not written": broken("def f(x):\n    raise NotImplementedError('Your code here.')"),
}


def failed(statement: Callable[[], object], name: str = "1.2 f") -> CheckFailed:
    """The error of an exercise whose check is this statement."""

    def it_holds_for_all_sizes() -> None:
        statement()

    with pytest.raises(CheckFailed) as caught:
        check.exercise(name)(it_holds_for_all_sizes)
    return caught.value


class Page:
    """A panel as a parser reads it that wants each element closed.

    Attributes:
        said: its text, with a line for each block.
        tags: each start tag with its attributes.
    """

    def __init__(self, source: str) -> None:
        in_lines = re.sub("(</(?:div|pre|td|tr)>)", r"\n\1", source)
        page = ElementTree.fromstring(f"<page>{in_lines}</page>")
        self.said = "".join(page.itertext())
        self.tags = [(element.tag, element.attrib) for element in page.iterfind(".//")]

    def styles(self, tag: str) -> list[str]:
        """The styles of the elements of a kind."""
        return [attributes.get("style", "") for found, attributes in self.tags if found == tag]


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_says_all_that_the_message_says(kind: str) -> None:
    """Every line of the plain message stands in the panel, in its words, with code in place of backticks."""
    error = failed(KINDS[kind])
    said = Page(_panel.html(error)).said
    lines = [line.strip().replace("`", "") for line in error.message.splitlines() if line]
    assert lines and all(line in said for line in lines), said


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_is_plain_small_and_takes_its_colours_from_the_page(kind: str) -> None:
    """Nothing in it acts or comes from elsewhere, it names itself, and coloured text has its own ground."""
    source = _panel.html(failed(KINDS[kind]))
    page = Page(source)
    assert {tag for tag, _ in page.tags} <= ALLOWED_TAGS
    assert {name for _, attributes in page.tags for name in attributes} <= ALLOWED_ATTRIBUTES
    assert page.tags[0][1] | {"style": ""} == {"role": "group", "aria-label": "Failing check 1.2 f", "style": ""}
    assert len(source.encode()) < 8_192
    assert "url" not in source and "http" not in source
    for tag, attributes in page.tags:
        style = dict(part.split(":", 1) for part in attributes.get("style", "").split(";") if part)
        assert style.get("color", "inherit") == "inherit" or (tag == "td" and style["background"].startswith("#"))
        assert "background" not in style or style["background"] == "none" or "color" in style
    tables = [tag for tag, _ in page.tags if tag == "table"]
    assert len(tables) == sum(tag == "caption" for tag, _ in page.tags)
    assert all(attributes["scope"] in ("row", "col") for tag, attributes in page.tags if tag == "th")


def test_numbers_read_well_on_their_colours() -> None:
    """In every map black and white numbers have a contrast of at least 4.5 to their ground, as accessibility asks."""
    ramps = (torch.linspace(0, 1, 96), torch.linspace(-3, 3, 96), torch.linspace(0, 90, 96), torch.ones(96) > 0)
    cells = set()
    for ramp in ramps:
        for place in range(0, 96, 12):
            found = _panel.values(ramp, ~ramp if ramp.dtype == torch.bool else ramp + 9, (place,))
            cells |= set(re.findall(r"background:#(\w+);color:#(\w+)", found.html()))
    assert len(cells) > 60

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for ground, text in cells:
        high, low = sorted((luminance(ground), luminance(text * 2)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, ground


def test_what_an_answer_made_is_escaped() -> None:
    """Names, values and messages of an answer that look like HTML are shown as they are, wherever they stand."""
    attack = "<script>alert('1')</script><img src=x onerror=\"go()\">"
    for error in (
        failed(broken(f"def f(x):\n    raise ValueError({attack!r})")),
        failed(lambda: check.true(False, f"`{attack}` is {attack}", attack), name=attack),
        failed(lambda: check.shape("x", X, **{attack: 3})),
        failed(lambda: check.raises(attack, ValueError, lambda: {}[attack], because=attack)),
    ):
        source = _panel.html(error)
        assert "<script" not in source and "<img" not in source and 'onerror="' not in source
        assert {tag for tag, _ in Page(source).tags} <= ALLOWED_TAGS
        assert "<script>" in Page(source).said


def test_letters_that_no_page_can_hold_are_left_out() -> None:
    """Control characters and half characters of a message are not in its panel, which can be stored."""
    source = _panel.html(CheckFailed("It is \x1b[31mred\ud800.", ["a\x00b"]))
    assert "It is [31mred." in source and "ab" in source
    assert source.encode() and json.dumps(source)


def test_a_panel_that_would_be_long_is_short_or_none() -> None:
    """A part of endless text is cut, and where all of it is too much the plain message stands alone."""
    long = CheckFailed("word " * 10_000, ["line " * 10_000] * 3, "slip " * 10_000)
    assert len(_panel.bundle(long)["text/html"]) < 8_192
    much = "&" * 9_000
    assert _panel.bundle(CheckFailed(much, [much], much, picture=Sizes((1,), (2,), (much,)))) is None


def test_the_picture_is_cut_around_the_place_and_says_so() -> None:
    """Of two large tensors the part around the greatest difference is shown, its indices and its place with it."""
    expected = torch.zeros(3, 40, 50)
    got = expected.clone()
    got[1, 30, 20], got[1, 31, 22] = 5, 1
    picture = failed(lambda: check.close("x", got, expected)).picture
    assert (picture.index, picture.shape) == ("1, 28:33, 16:24", (3, 40, 50))
    assert picture.got[2][4] == 5 and picture.got[3][6] == 1 and picture.place == (2, 4)
    page = Page(picture.html())
    assert "Entries [1, 28:33, 16:24] of shape (3, 40, 50). 2 of 40 differ, framed; the thick frame" in page.said
    assert page.styles("b") == [THICK, THICK, THIN]
    assert [head for head in ("28", "32", "16", "23") if f"\u00a0{head}\u00a0" in page.said] == ["28", "32", "16", "23"]


@pytest.mark.parametrize(
    ("shape", "place", "index", "size"),
    [
        ((4, 4), (0, 1), ":, :", (4, 4)),
        ((3, 1, 1, 4), (2, 0, 0, 3), ":, 0, 0, :", (3, 4)),
        ((2, 3, 5), (1, 2, 4), "1, :, :", (3, 5)),
        ((9, 99), (0, 98), "0:5, 91:99", (5, 8)),
        ((99, 2), (98, 0), "87:99, :", (12, 2)),
        ((30,), (29,), "18:30", (1, 12)),
        ((1, 7, 1), (0, 6, 0), "0, :, 0", (1, 7)),
    ],
)
def test_the_part_is_a_table_of_two_dimensions_at_most(
    shape: tuple[int, ...], place: tuple[int, ...], index: str, size: tuple[int, int]
) -> None:
    """The last two dimensions that hold more than one entry are shown, no more than fits, with the place among them."""
    expected = torch.zeros(shape)
    got = expected.clone()
    got[place] = 1
    found = _panel.values(expected, got, place)
    assert (found.index, (len(found.got), len(found.got[0]))) == (index, size)
    assert found.got[found.place[0]][found.place[1]] == 1
    assert sum(map(sum, found.got)) == 1


def test_masks_are_written_as_numbers_with_a_key() -> None:
    """True and False are 1 and 0, said to be; what is but a mask's size in integers reads the same."""
    for got in (CAUSAL.T, CAUSAL.T.long()):
        said = Page(_panel.values(CAUSAL, got, (0, 1)).html()).said
        assert "True" not in said.replace("1 is True, 0 is False", "")
        assert "1 is True, 0 is False. 12 of 16 differ, framed" in said


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ([0.123456, 1.0], ["0.12", "1.00"]),
        ([-0.5, -0.0001], ["−0.50", "0.00"]),
        ([0.00123, 0.0], ["0.0012", "0.0000"]),
        ([123.456, -7.0], ["123.5", "−7.0"]),
        ([-1e9, 0.25], ["−1e9", "0.25"]),
        ([torch.inf, -torch.inf, torch.nan], ["∞", "−∞", "nan"]),
    ],
)
def test_numbers_are_short(numbers: list[float], texts: list[str]) -> None:
    """About three digits of the largest, a real minus, no minus before zero, and signs for what is no number."""
    said = Page(_panel.values(torch.tensor(numbers), torch.tensor(numbers), (0,)).html()).said
    assert [cell.strip() for cell in re.findall(r"\u00a0([^\u00a0]+)\u00a0\n", said)][-len(texts) :] == texts


def test_the_two_numbers_of_a_verdict_look_different() -> None:
    """Where they differ in a late digit, all numbers have one more; where others still look alike, the page says so."""
    said = Page(_panel.values(torch.tensor([0.5, 0.00401]), torch.tensor([0.50001, 0.00432]), (1,)).html()).said
    assert "0.0040" in said and "0.0043" in said and "0.5000" in said
    assert said.rstrip().endswith("named above. 1 of them only in digits that are not shown.")


def test_where_everything_differs_only_the_place_is_framed() -> None:
    """A frame around every number would show nothing: one remains, in both maps, and the rest is said."""
    page = Page(_panel.values(X, X + 1, (1, 0)).html())
    assert page.styles("b") == [THICK, THICK]
    assert "All 4 differ; the frame is at the place named above." in page.said


def test_sizes_that_differ_are_marked_with_their_names() -> None:
    """A wrong shape is a table of named dimensions, with a sign at each that differs or is missing."""
    error = failed(lambda: check.shape("x", torch.ones(2, 7, 8), batch=2, num_heads=2, seq_len=7, d_k=4))
    assert error.picture == Sizes((2, 2, 7, 4), (2, 7, 8), ("batch", "num_heads", "seq_len", "d_k"))
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td>', error.picture.html())
    assert rows == [
        ("0 · batch", "2", "2"),
        ("1 · num_heads", "2", "<b>≠ 7</b>"),
        ("2 · seq_len", "7", "<b>≠ 8</b>"),
        ("3 · d_k", "4", "<b>≠ none</b>"),
    ]
    assert _panel.sizes([1] * 9, [1]) is None


class Odd(torch.Tensor):
    """A tensor of an answer's own class, of which no part can be had."""

    def __getitem__(self, index: object) -> object:
        raise SystemError("no part of this")


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (torch.ones(2, 2), torch.ones(2, 2, device="meta")),
        (torch.ones(2, 2), torch.ones(2, 2, dtype=torch.complex64)),
        (torch.ones(2, 2), torch.ones(2, 3)),
        (torch.ones(2, 2), torch.ones(2, 2).as_subclass(Odd)),
        (torch.ones(2, 2), torch.eye(2).to_sparse()),
        (torch.ones(1, 1), torch.zeros(1, 1)),
        (torch.tensor(1.0), torch.tensor(2.0)),
        (torch.ones(0, 3), torch.ones(0, 3)),
    ],
)
def test_what_cannot_be_drawn_is_no_picture(expected: torch.Tensor, got: torch.Tensor) -> None:
    """Tensors without numbers, of strange classes or with nothing to see give none, and never an error."""
    picture = _panel.values(expected, got, (1,) * expected.dim())
    assert picture is None or (picture.html() and not isinstance(got, Odd) and got.device.type == "cpu")


def test_a_picture_that_fails_costs_only_itself() -> None:
    """Where a picture cannot be made into HTML, the words of the panel are all there."""
    error = CheckFailed("`x` is wrong.", ["got  1"], picture=Values(((1,),), ((2,),), ":", (1,), (None, 0), (5, 5)))
    error.picture.__dict__["got"] = None
    assert "<code>x</code> is wrong." in _panel.html(error) and "<table" not in _panel.html(error)


def test_an_error_keeps_no_tensor_alive() -> None:
    """When a check has failed, what it compared is freed, though the error is still there."""
    known: list[weakref.ref] = []

    def compare() -> None:
        expected, got = torch.zeros(300, 300), torch.ones(300, 300)
        known.extend(map(weakref.ref, (expected, got)))
        check.close("x", got, expected)

    def fail_inside() -> None:
        known.append(weakref.ref(held := torch.ones(300)))
        held.reshape(7, 7)

    errors = [failed(compare), failed(fail_inside)]
    gc.collect()
    assert [reference() for reference in known] == [None] * 3
    assert isinstance(errors[0].picture, Values) and errors[0].__context__ is None


class Shell(InteractiveShell):
    """IPython as a kernel has it; what it would show of an error is kept."""

    def init_display_pub(self) -> None:
        self.display_pub, self.errors = CapturingDisplayPublisher(), []

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        self.errors.append((etype.__name__, str(evalue), stb))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell in which somebody works, outside of any test."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a shell puts its own there
    config = Config()
    config.HistoryManager.enabled = False
    shell = Shell(config=config)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.delenv("PYTEST_VERSION")
    shell.user_ns["check"], shell.user_ns["X"] = check, X
    return shell


CELL = """
@check.exercise("1.2 f")
def it_is_doubled():
    check.close("x", X, 2 * X)
"""
TEXT = """\
✗ `x` has the wrong values.

  expected  4.0000  at index (1, 0), where they differ most
  got       2.0000

Rule: it is doubled."""


def test_in_a_notebook_the_panel_is_shown_and_one_line_follows(shell: Shell) -> None:
    """One display holds HTML and the whole plain message; the error after it is one line, its value the whole text."""
    shell.run_cell(CELL)
    (shown,) = shell.display_pub.outputs
    assert shown["data"].keys() == {"text/html", "text/plain"}
    assert shown["data"]["text/plain"] == TEXT
    assert "<code>x</code> has the wrong values." in shown["data"]["text/html"]
    assert shell.errors == [("CheckFailed", TEXT, ["✗ 1.2 f"])]


def test_an_error_that_somebody_catches_shows_nothing(shell: Shell) -> None:
    """The panel belongs to what IPython shows: caught in a cell, the error is only its text."""
    inside = CELL.replace("\n", "\n    ")
    shell.run_cell(f"try:{inside}\nexcept Exception as error:\n    said = str(error)")
    assert shell.display_pub.outputs == [] and shell.errors == []
    assert shell.user_ns["said"] == TEXT


def test_a_passing_check_stays_one_line(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """In a notebook, too, success is one printed line and no display."""
    shell.run_cell(CELL.replace("2 * X", "X"))
    assert (shell.display_pub.outputs, shell.errors) == ([], [])
    assert capsys.readouterr().out == "✓ 1.2 f: it is doubled.\n"


def test_where_no_panel_can_be_shown_the_text_is(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal, under pytest, for the button Validate and where a front end fails, IPython shows the message."""
    publisher = shell.display_pub
    shell.display_pub = DisplayPublisher()
    shell.run_cell(CELL)
    shell.display_pub = publisher
    for program in ("PYTEST_VERSION", "NBGRADER_VALIDATING"):
        monkeypatch.setenv(program, "1")
        shell.run_cell(CELL)
        monkeypatch.delenv(program)
    monkeypatch.setattr(publisher, "publish", lambda data: 1 / 0)
    shell.run_cell(CELL)
    assert [stb for *_, stb in shell.errors] == [TEXT.splitlines()] * 4
    assert publisher.outputs == []


def test_plain_python_needs_no_ipython() -> None:
    """Without IPython an uncaught check ends with the whole message, and nothing imports IPython for it."""
    source = f"import sys, torch\nfrom autograder import check\nX = torch.tensor({X.tolist()})\ntry:{{}}\nfinally:\n"
    source += "    print('IPython' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_VERSION"}
    code = source.format(CELL.replace("\n", "\n    "))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (1, "False\n")
    assert done.stderr.rstrip().endswith(TEXT)


def test_an_unwritten_answer_is_calmer() -> None:
    """Its panel has no colour of failure, and is the same in all else."""
    error = failed(KINDS["not written"])
    assert isinstance(error, NotWritten)
    assert _panel.FAILED not in _panel.html(error) and _panel.FAILED in _panel.html(failed(KINDS["values"]))

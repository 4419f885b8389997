# ruff: noqa: E501 (a table: one line, one way)
"""How students work who have it right on their own screen: a table of ways, and what each is worth.

Each row changes a right notebook of lesson 1 and says what it earns, and words of a message, where one is due. Run from
top to bottom, in Jupyter, each of them earns the same.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from types import MappingProxyType

from faults.broken_notebooks import Cell, Notebook, cell_named, code, one_cell, place, remove, source_of, whole
from support.classroom import ROOT

from autograder.course.config import read_notebook
from autograder.transformer import CELLS

Change = Callable[[Notebook], Notebook]
RELEASED = read_notebook(ROOT / "notebooks" / "01_attention" / "01_attention.ipynb")
answer = partial(source_of, "causal_mask")  # writes something into the cell of the answer
WHOLE, TWO_LOST, ONE_LOST = 20.0, 18.0, 19.0  # all, and all but `causal_mask`, or but its values
MASK = "def causal_mask(size):\n    return torch.ones(size, size).tril().bool()"
WRONG = "def causal_mask(size):\n    return torch.ones(size, size).triu().bool()"
HELPED = "def causal_mask(size):\n    return lower(size).bool()"
HELPER = "def lower(size):\n    return torch.ones(size, size).tril()"
MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": "It works."}
STUB = 'def causal_mask(size):\n    raise NotImplementedError("Your answer goes here")'
TEST = "print(causal_mask(3))"
FILE = {"my_masks.py": f"import torch\n\n\n{MASK}\n"}


@dataclass(frozen=True)
class Way:
    """One way of working."""

    what: str
    changes: Change  # does it to a right notebook
    points: float = WHOLE
    says: tuple[str, ...] = ()  # words of the messages of checks that failed
    notes: tuple[str, ...] = ()
    # files that were handed in with the notebook, by their path from there
    beside: Mapping[str, str] = field(default_factory=dict)


def pieces(*sources: str | Cell, name: str = "causal_mask") -> Change:
    """Split a cell as JupyterLab does: every piece has its metadata, the last one its id."""

    def change(notebook: Notebook) -> None:
        cell, where = cell_named(notebook, name), place(notebook, name)
        made = [each if isinstance(each, dict) else code(each) for each in sources]
        for number, piece in enumerate(made):
            piece["metadata"] = copy.deepcopy(cell["metadata"])
            piece["id"] = name if number == len(made) - 1 else f"piece{number}"
        notebook["cells"][where : where + 1] = copy.deepcopy(made)

    return whole(change)


def at(before: str, *sources: str | Cell, after: bool = False, marked: str = "") -> Change:
    """Put cells before or after another one, or at the end; perhaps with the metadata of an answer, as copies have."""

    def change(notebook: Notebook) -> None:
        where = place(notebook, before) + after if before else len(notebook["cells"])
        made = [copy.deepcopy(each) if isinstance(each, dict) else code(each) for each in sources]
        for number, cell in enumerate(made):
            cell["id"] = f"own-{before}-{number}"
            if marked:
                cell["metadata"] = copy.deepcopy(cell_named(notebook, marked)["metadata"])
        notebook["cells"][where:where] = made

    return whole(change)


def stub(name: str) -> Change:
    """Leave an answer as it was given out."""
    return source_of(name, cell_named(RELEASED, name)["source"])


def copied(name: str, before: str = "", *, after: bool = False) -> Change:
    """Copy a cell, its metadata included, to another place."""

    def change(notebook: Notebook) -> None:
        twin = copy.deepcopy(cell_named(notebook, name)) | {"id": f"copy-{name}"}
        notebook["cells"].insert(place(notebook, before) + after if before else len(notebook["cells"]), twin)

    return whole(change)


def merged(first: str, second: str, *, keeps: str) -> Change:
    """Merge two cells; JupyterLab keeps the metadata of one of them."""

    def change(notebook: Notebook) -> None:
        source = "\n\n".join(cell_named(notebook, name)["source"] for name in (first, second))
        cell_named(notebook, keeps)["source"] = source
        notebook["cells"].remove(cell_named(notebook, second if keeps == first else first))

    return whole(change)


def scratch(source: str) -> Change:
    """A cell of the student's own behind the setup."""
    return at("setup", source, after=True)


def both(*changes: Change) -> Change:
    """One after the other."""
    return lambda notebook: reduce(lambda changed, change: change(changed), changes, notebook)


def loses(
    what: str, broken: str, *says: str, also: Change | None = None, beside: Mapping[str, str] = MappingProxyType({})
) -> Way:
    """A row whose `causal_mask` fails, and says so."""
    change = answer(broken)
    return Way(what, both(change, also) if also else change, TWO_LOST, says, beside=beside)


SPLIT = "`causal_mask` stood in {} cells"
OWN = ("`causal_mask` stood in a cell of its own",)
FIRST_CHECK, LAST_CHECK = "check_causal_mask_values", "check_mended_nearby_attention_values"
CLASS = "class Mask:\n    def __call__(self, size):\n        raise NotImplementedError\n"

WAYS = [
    Way("nothing special", both()),
    # Split Cell.
    Way("split: function | test", pieces(MASK, TEST), notes=(SPLIT.format(2),)),
    Way("split: helper | function", pieces(HELPER, HELPED), notes=(SPLIT.format(2),)),
    Way("split: function | helper", pieces(HELPED, HELPER), notes=(SPLIT.format(2),)),
    Way("split: import | function", pieces("import numpy as np", "def causal_mask(size):\n    return torch.tensor(np.tri(size)).bool()"), notes=(SPLIT.format(2),)),
    Way("split: three pieces", pieces(HELPER, HELPED, TEST), notes=(SPLIT.format(3),)),
    Way("split: comment | function | nothing", pieces("# my notes", MASK, ""), notes=(SPLIT.format(2),)),
    Way("split: function | Markdown", pieces(MASK, MARKDOWN)),
    Way("split: Markdown | function", pieces(MARKDOWN | {"source": "An idea"}, MASK)),
    Way("split: error | function", pieces("1 / 0", MASK), notes=(SPLIT.format(2),)),
    Way("split: function | error", pieces(MASK, "causal_mask(3, 4, 5)"), notes=(SPLIT.format(2),)),
    Way("split: function | wrapped later", pieces("def causal_mask(size):\n    return torch.ones(size, size).tril()", "plain = causal_mask\ncausal_mask = lambda size: plain(size).bool()"), notes=(SPLIT.format(2),)),
    Way("split: class | monkeypatch", pieces(f"{CLASS}causal_mask = Mask()", "Mask.__call__ = lambda self, size: torch.ones(size, size).tril().bool()"), notes=(SPLIT.format(2),)),
    Way("split: a magic | function", pieces("%time 1", f"%%time\n{MASK}"), notes=(SPLIT.format(2),)),
    Way("split, an own cell between", both(pieces("x = 3", HELPED), at("causal_mask", HELPER)), notes=(SPLIT.format(2),)),
    Way("split: function | stub", pieces(MASK, STUB)),
    Way("split: stub | function", pieces(STUB, MASK)),
    Way("split: right | wrong", pieces(MASK, WRONG), ONE_LOST, notes=(SPLIT.format(2),)),
    Way("split: only scratch, the function above", both(pieces("x = 1", "y = 2"), at("causal_mask", MASK)), notes=(SPLIT.format(3),)),
    Way("a check split", pieces("print(1)", "print(2)", name=FIRST_CHECK), notes=("had been changed",)),
    # Copies.
    Way("a stub copied above", at("causal_mask", STUB, marked="causal_mask")),
    Way("a stub copied below", at("causal_mask", STUB, after=True, marked="causal_mask")),
    Way("an edited stub below", at("causal_mask", "def causal_mask(size):\n    # my answer\n    raise NotImplementedError", after=True, marked="causal_mask")),
    Way("a stub copied below its check", at(FIRST_CHECK, STUB, after=True, marked="causal_mask")),
    Way("a draft kept above", at("causal_mask", WRONG, marked="causal_mask"), notes=(SPLIT.format(2),)),
    Way("a wrong copy below the check", at(FIRST_CHECK, WRONG, after=True, marked="causal_mask"), notes=(SPLIT.format(2),)),
    Way("a wrong copy at the end", at("", WRONG, marked="causal_mask"), notes=(SPLIT.format(2),)),
    Way("a right copy at the end", copied("causal_mask")),
    Way("a right copy at the top", copied("causal_mask", "setup", after=True), notes=("another order",)),
    Way("wrong, a right copy below the check", both(at(FIRST_CHECK, MASK, after=True, marked="causal_mask"), answer(WRONG)), ONE_LOST, notes=(SPLIT.format(2),)),
    Way("wrong, a right cell of its own below the check", both(at(FIRST_CHECK, MASK, after=True), answer(WRONG)), ONE_LOST),
    Way("wrong, copied with helper to the end", both(answer(WRONG), at("", HELPER, HELPED, copy.deepcopy(code(TEST)), marked="causal_mask")), ONE_LOST, notes=(SPLIT.format(4),)),
    Way("wrong, then the course's part", both(answer(WRONG), at(FIRST_CHECK, "causal_mask = parts.causal_mask", after=True)), ONE_LOST),
    Way("both copies wrong", both(at(FIRST_CHECK, WRONG, after=True), answer(WRONG)), ONE_LOST),
    Way("no copy is right, one is a stub", both(at("", WRONG), stub("causal_mask")), ONE_LOST, notes=OWN),
    Way("scratch of the answer's name below its check", at(FIRST_CHECK, "causal_mask = causal_mask(3)", after=True)),
    # Cells used for something else.
    Way("scratch in its cell, the function above", both(answer("x = 1"), at("causal_mask", MASK)), notes=(SPLIT.format(2),)),
    Way("scratch in its cell, the function below", both(answer("x = 1"), at("causal_mask", MASK, after=True)), notes=(SPLIT.format(2),)),
    Way("scratch in its cell, the function below the check", both(answer("x = 1"), at(FIRST_CHECK, MASK, after=True)), notes=(SPLIT.format(2),)),
    Way("its cell emptied, the function above", both(answer(""), at("causal_mask", MASK)), notes=OWN),
    Way("the stub left, the function above", both(stub("causal_mask"), at("causal_mask", MASK)), notes=OWN),
    Way("the stub left, the function below", both(stub("causal_mask"), at("causal_mask", MASK, after=True)), notes=OWN),
    Way("the stub left, the function in the setup cell", both(stub("causal_mask"), whole(lambda nb: cell_named(nb, "setup").update(source=f"{cell_named(nb, 'setup')['source']}\n\n{MASK}"))), notes=("stood in the cell `setup`",)),
    Way("the stub left, the function behind the setup", both(stub("causal_mask"), scratch(MASK)), notes=(*OWN, "another order")),
    Way("the stub left, a lambda above", both(stub("causal_mask"), at("causal_mask", "causal_mask = lambda size: torch.ones(size, size).tril().bool()")), notes=OWN),
    Way("two answers in the first one's cell", whole(lambda nb: (cell_named(nb, "padding_mask").update(source=f"{cell_named(nb, 'padding_mask')['source']}\n\n{MASK}"), stub("causal_mask")(nb))), notes=("`causal_mask` stood in the cell `padding_mask`",)),
    Way("two answers in the second one's cell", whole(lambda nb: (answer(f"{cell_named(nb, 'padding_mask')['source']}\n\n{MASK}")(nb), stub("padding_mask")(nb))), notes=("`padding_mask`",)),
    Way("two answers in one cell, the other deleted", both(whole(lambda nb: cell_named(nb, "padding_mask").update(source=f"{cell_named(nb, 'padding_mask')['source']}\n\n{MASK}")), remove("causal_mask")), notes=("`causal_mask` stood in the cell `padding_mask`",)),
    Way("merged with its check", merged("causal_mask", FIRST_CHECK, keeps="causal_mask"), notes=("had been deleted",)),
    Way("merged with its check, whose mark is kept", merged("causal_mask", FIRST_CHECK, keeps=FIRST_CHECK), notes=("had been changed", "`causal_mask`")),
    Way("its mark lost, a stub above it", both(one_cell("causal_mask", lambda cell: cell.update(metadata={}, id="unmarked")), at("unmarked", STUB)), notes=("`causal_mask`",)),
    # Scratch variables.
    *(Way(f"scratch: {source}", scratch(source)) for source in ("import numpy as np\ndata = np.random.rand(3)", "exercises = []", "parts = [1, 2]", "check = 3", "draw = print", "device = 'cuda'", "torch.set_default_device('meta')", "torch.set_default_dtype(torch.float64)", "yours = 1", "list = [1]", "max = 3", "dict = {}", "getattr = abs = any = all = float = None", "case = rule = answer = exercise = 1", "id = input = print = 3")),
    Way("scratch: a function called check", scratch("def check(x):\n    return x")),
    Way("scratch: a module called data", scratch("import json as data, random as parts")),
    Way("F of another module", both(scratch("import torch as F"))),
    # What a check sees as long as the name is the answer's to use.
    loses("scratch: F, which the answer uses", "def causal_mask(size):\n    return F.relu(torch.ones(size, size).tril()).bool()", "`F` is no longer torch.nn.functional", also=scratch("F = [1]")),
    # Causes.
    loses("a package that is missing", f"from einops import rearrange\n\n{MASK}", "`causal_mask` is not defined", "ModuleNotFoundError", "No module named 'einops'", "line 1", "from einops import rearrange", "torch", "numpy", "matplotlib"),
    loses("a no-break space", MASK.replace("return ", "return\u00a0"), "SyntaxError", "U+00A0", "no-break space", "line 2"),
    loses("a zero-width space", MASK.replace("torch", "\u200btorch"), "U+200B", "zero width space", "line 2"),
    loses("curly quotes", f"name = “mask”\n{MASK}", "U+201C", "left double quotation mark", "line 1"),
    loses("a minus sign", f"x = 3 \u2212 1\n{MASK}", "U+2212", "minus sign", "line 1"),
    loses("a sign in a text, an error elsewhere", 'def causal_mask(size):\n    """√, as in the paper."""\n    return torch.ones(size))', "line 3", "Mend that line"),
    loses("conflict markers", f"<<<<<<< HEAD\n{MASK}\n=======\n{WRONG}\n>>>>>>> theirs", "line 1", "<<<<<<<", "merge"),
    loses("a newer Python", f"type Pair[T] = tuple[T, T]\n{MASK}\n", "SyntaxError", "Python 3.99", also=whole(lambda nb: nb["metadata"].update(language_info={"name": "python", "version": "3.99.1"}))),
    loses("tabs and spaces", "def causal_mask(size):\n    x = 1\n\treturn x", "TabError", "line 3"),
    loses("a bracket left open", "def causal_mask(size):\n    return torch.ones((size, size).tril().bool()", "SyntaxError", "line 2"),
    loses("an error above the function", f"x = 1\nx.shape\n{MASK}", "AttributeError", "line 2", "x.shape"),
    loses("a helper's cell ends in an error", "def causal_mask(size):\n    return lower(size).bool()", "`causal_mask` raised NameError", "`lower`", "No module named 'einops'", also=at("causal_mask", f"from einops import rearrange\n{HELPER}")),
    loses("a helper stands below the check", HELPED, "`causal_mask` raised NameError", "A cell below this check defines `lower`: move it up", also=at("", HELPER)),
    Way("the stub's last line left behind the answer", answer(f'{MASK}\n    raise NotImplementedError("Your code here.")')),
    Way("names of the setup deleted, and a copy of its cell", both(scratch("del math, F, torch"), copied("setup", "exercises"))),
    Way("all names deleted, and the setup's lines again", both(scratch("%reset -f"), at("exercises", CELLS["setup"]))),
    *(Way(f"{register}, by keyword", answer(f"class Kept(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.{register}(name='rows', {value})\n\nkept = Kept()\n\n{MASK}")) for register, value in {"register_buffer": "tensor=torch.ones(2), persistent=True", "register_parameter": "param=nn.Parameter(torch.ones(2))", "add_module": "module=nn.Identity()"}.items()),
    loses("a helper's cell is no Python", "def causal_mask(size):\n    return lower(size).bool()", "`causal_mask` raised NameError", "`lower`", "SyntaxError", also=at("causal_mask", f"x = = 3\n{HELPER}")),
    loses("a helper that no cell defines", "def causal_mask(size):\n    return lower(size).bool()", "`causal_mask` raised NameError", "name 'lower' is not defined"),
    loses("another name", MASK.replace("causal_mask", "causal_masks"), "`causal_mask` is not defined", "`causal_masks`"),
    loses("a magic that nobody knows", f"%nosuch\n{MASK}", "`causal_mask` is not defined", "UsageError", "%nosuch"),
    loses("a file of one's own, not handed in", "from my_masks import causal_mask", "No module named 'my_masks'", "hand in beside the notebook"),
    loses("a file of one's own that is no Python", "from my_masks import causal_mask", "SyntaxError", "my_masks.py, line 2", beside={"my_masks.py": "import torch\nx = (\n"}),
    # Files beside the notebook.
    Way("a function from a file", answer("from my_masks import causal_mask"), beside=FILE),
    Way("all from a file", answer("from my_masks import *"), beside=FILE),
    Way("a module's function under the answer's name", answer("import my_masks\ncausal_mask = my_masks.causal_mask"), beside=FILE),
    Way("a file that was put into others/", answer("from my_masks import causal_mask"), beside={f"others/{name}": text for name, text in FILE.items()}),
    Way("a file of the name of a folder", answer("from my_masks import causal_mask"), beside={**FILE, "others/data": "", "data/a.csv": "1"}),
    Way("a file in a folder", answer("from lib.my_masks import causal_mask"), beside={f"lib/{name}": text for name, text in FILE.items()}),
    Way("%run of a file", answer("%run my_masks.py"), beside=FILE),
    Way("%%writefile, then import", both(answer("from my_masks import causal_mask"), at("causal_mask", f"%%writefile my_masks.py\n{FILE['my_masks.py']}"))),
    Way("data from a file", answer(f"import json\nwith open('size.json') as file:\n    assert json.load(file) == [3]\n{MASK}"), beside={"size.json": "[3]"}),
    Way("files called as packages are", lambda notebook: notebook, beside={f"{name}.py": "raise SystemExit" for name in ("torch", "math", "autograder", "ipykernel_launcher", "sitecustomize")}),
    Way("more files than are taken", lambda notebook: notebook, notes=("Of 30 files beside the notebook its cells found 20: at most 20",), beside={f"{number}.txt": "" for number in range(30)}),
    loses("%run of a file that is not there", "%run other.py", "`causal_mask` is not defined", "other.py"),
    # torch.compile and its kind.
    *(Way(f"@{decorator}", answer(f"@{decorator}\n{MASK}")) for decorator in ("torch.compile", "torch.compile()", 'torch.compile(backend="eager")', "torch.compile(dynamic=True, fullgraph=True)", "torch.no_grad()", "torch.inference_mode()", "torch.compiler.disable", "torch.jit.ignore", "torch.jit.unused")),
    Way("torch.compile(f)", answer(f"{MASK}\n\ncausal_mask = torch.compile(causal_mask)")),
    Way("a compiled module", answer("class Mask(nn.Module):\n    def forward(self, size):\n        return torch.ones(size, size).tril().bool()\n\nmask = Mask()\nmask.compile()\ncausal_mask = lambda size: mask(size)")),
    Way("from torch import compile", answer(f"from torch import compile\n\n@compile\n{MASK}")),
    Way("compiled within", answer(f"{MASK.replace('causal_mask', 'inner')}\n\ndef causal_mask(size):\n    torch._dynamo.reset()\n    return torch.compile(inner)(size)")),
]  # fmt: skip

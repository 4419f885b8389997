"""Code beside which checks may run: what learners write is of that kind, and what reaches for more is not."""

import builtins
import gc
import importlib
import inspect
import sys
import textwrap
import types

import pytest
import torch
from matrix import right_answers, source
from support import two_processes
from support.classroom import LESSONS, ROOT, classroom

from autograder.grading.submission.known import ATTRIBUTES, BUILTINS, MODULES
from autograder.grading.submission.restricted import goes_beyond

IMPORTS = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "math": "math", "data": "autograder.data"}
GIVEN, PARTS = frozenset({*IMPORTS, "device", "kinds", "try_change"}), frozenset({"device"})
KNOWN = {
    "layers": """
        class Block(nn.Module):
            def __init__(self, size: int, dropout=0.1):
                super().__init__()
                self.w_q, self.norm = nn.Linear(size, size), nn.LayerNorm(size)
                self._scale = 1 / math.sqrt(size)

            def forward(self, x: torch.Tensor, mask=None) -> torch.Tensor:
                x = self.norm(x + self.w_q(x) * self._scale)
                return x if mask is None else x.masked_fill(mask, -torch.inf)
        """,
    "a loop": "total = 0\nfor row in torch.eye(3):\n    total += row.sum().item()\nprint(f'{total:.2f}')",
    "imports": "import torch\nimport torch.nn.functional as F\nfrom typing import Optional\nfrom math import sqrt",
    "shared weights": "def tie(model):\n    model.output.weight = model.embedding.weight",
    "classes that are called": "from functools import partial\n\npartial(max)\ntorch.device('cpu')",
    "notes": "%matplotlib inline\n%time total = 3\n!pip list\nprint(total)  # why?",
    "a timed cell": "%%time\nrows = torch.eye(3)\nfor row in rows:\n    row.sum()",
    "a drawing": "import matplotlib.pyplot as plt\nplt.plot([1, 2], label='a')\nplt.show()",
    "a warning": "import sys, warnings\nwarnings.warn('hm')\nprint('hm', file=sys.stderr)",
    "a clock": "import time\nstart = time.time()\nprint(time.time() - start)",
    "a slip of the pen": "print(scors)",
    "a class that is shown": "class Pair:\n    pass\n\nprint(Pair)",
    "private names": "_SCALE = 3\n\ndef _scaled(x):\n    return x * _SCALE\n\nclass _Pair:\n    pass\n\n_Pair()",
    "keywords for its own function": "def f(x, y=1):\n    return x\n\ndef g(x, **more):\n    return f(x, **more)",
    "its own class": "class Pair:\n    def __init__(self, a):\n        self.a = a\n\nPair(3)\nisinstance(3, Pair)",
}
BEYOND = {
    "frames": "try:\n    raise ValueError\nexcept ValueError as e:\n    e.__traceback__.tb_frame",
    "a generator's frame": "g = (i for i in [1])\ng.gi_frame",
    "a generator's frame by self": "class Aa:\n    def f(self):\n        return self.gi_frame\n\nA.f((i for i in [1]))",
    "another self": "class Aa:\n    def f(self):\n        self.weight = 1\n\nf = Aa\nf.f(nn)",
    "self in a function": "def f(self):\n    self.weight = 1",
    "self in a lambda": "f = lambda self: self.gi_frame",
    "self in a loop": "class Aa:\n    def f(self):\n        for self in [1]:\n            pass",
    "a static method's self": "class Aa:\n    @staticmethod\n    def f(self):\n        return self.gi_frame",
    "a method as a default": "class Aa:\n    def f(self):\n        pass\n    def g(self, h=f):\n        pass",
    "a call in a class": "class Aa:\n    def f(self):\n        pass\n    f(3)",
    "a metaclass": "class Aa(metaclass=nn.Module):\n    pass",
    "another base": "class Aa(torch.Tensor):\n    pass",
    "a method of modules": "class Aa(nn.Module):\n    def state_dict(self):\n        return {}",
    "an attribute of modules": "class Aa(nn.Module):\n    def f(self):\n        self.forward = print",
    "a private attribute of modules": "class Aa(nn.Module):\n    def f(self):\n        return self._parameters",
    "a dunder": "class Aa:\n    def __eq__(self, other):\n        return True",
    "a class that is held": "layer = nn.Linear\nlayer.weight = 1",
    "a module that is held": "m = torch.nn.functional",
    "a module in a list": "[math][0].weight = 3",
    "an attribute that is set": "nn.Linear.forward = print",
    "an attribute of a module": "F.softmax = print",
    "a weight of a class": "nn.Linear.weight = 3",
    "eval": "eval('1')",
    "getattr": "getattr(3, 'real')",
    "builtins by a variable": "if False:\n    open = 3\nopen('x')",
    "format": "'{0.__class__}'.format(3)",
    "an import": "import os",
    "an import from": "from functools import wraps",
    "an alias of a class": "from torch.nn import Linear as linear\nlinear.weight = 3",
    "old memory": "torch.Tensor(3)",
    "a result that is written elsewhere": "torch.add(1, 2, out=x)",
    "the same by position": "F.normalize(x, 2.0, 1, 1e-12, x)",
    "the same by a list": "torch.tensordot(*[x, x, 1, x])",
    "the same by a dictionary": "options = {}\ntorch.add(1, 2, **options)",
    "the same, held": "unit = F.normalize\nunit(x, 2.0, 1, 1e-12, x)",
    "the same, imported": "from torch.nn.functional import normalize\nnormalize(x, 2.0, 1, 1e-12, x)",
    "by an argument with a function's name": "def f(f, **options):\n    return f(x, **options)",
    "by an argument with a part's name": "def f(device, **options):\n    return device(1, **options)\n\nf(max)",
    "sparse gradients": "nn.Embedding(3, 4, sparse=True)",
    "sparse gradients by position": "nn.Embedding(3, 4, None, None, 2.0, False, True)",
    "sparse gradients of a function": "F.embedding(x, x, None, None, 2.0, False, True)",
    "sparse gradients of what is gathered": "x.gather(0, x, sparse_grad=True)",
    "the places of a sparse gradient": "x.grad.indices().fill_(5)",
    "labels that are trusted": "F.nll_loss(x, x, reduction='none')",
    "values that no gradient sees change": "x.data[0] = 3",
    "a gradient where the lesson asks for none": "x.sum().backward()",
    "old memory, too": "torch.empty(3)",
    "an annotation that computes": "def f(x: print(1)):\n    pass",
    "a name of Python's": "def isinstance(a, b):\n    return True",
    "a name of the course's": "F = 3",
    "the course": "data.normal((3,), seed=1)",
    "IPython": "get_ipython()",
    "a global": "def f():\n    global F\n    F = 3",
    "match": "match 3:\n    case object(real=x):\n        pass",
    "a magic": "%run x",
    "an import as self": "import torch as self\nself.sys",
    "an error as self": "try:\n    3 / 0\nexcept Exception as self:\n    pass",
    "a walrus in a comprehension": "[F := 3 for _ in [0]]",
    "lines that IPython sees": "# c\x0c%x\x0cimport sys",
    "an argument called isinstance": "def f(isinstance):\n    return isinstance(0, int)",
    "an argument called torch": "def f(torch):\n    pass",
    "a module by from": "from torch import functional\n[functional]",
    "a keyword of isinstance": "isinstance(0, int, x=exec('1'))",
    "an argument called __builtins__": "lambda __builtins__: 0",
    "an argument that makes a name known": "lambda get_ipython: 0\nget_ipython()",
    "a name known elsewhere": "def f(expected):\n    pass\n\nexpected",
    "a return annotation": "def f() -> exec('1'):\n    pass",
    "a copy of anything": "import copy",
    "a deep copy, which looks for names": "from copy import deepcopy",
    "a class in a function": "def f():\n    class Aa:\n        pass",
    "an import with the name of a part": "def f():\n    import torch as kinds",
    "an import with the name of something else": "def f():\n    import math as m\n\ndef g(m):\n    m.e",
    "what IPython showed last": "if 0:\n    _ = 3\n[_]",
    "super that is held": "class Aa:\n    def f(self):\n        return [super]",
    "one switch twice": "m = torch.no_grad()\nwith m:\n    with m:\n        pass",
    "old memory by self": "class Aa(nn.Module):\n    def f(self):\n        self.to_empty(device='cpu')",
    "a class twice": "class Foo:\n    pass\n\nFoo = 3",
    "a class of something else": "def f(x, y):\n    return isinstance(x, y.gi_frame.Linear)",
    "an annotation that looks things up": "d = {}\ng = (i for i in d)\nx: d[g.gi_frame]",
    "a name that is imported and bound": "import torch\n\ndef f(torch):\n    pass",
    "one name for two imports": "from torch import add as a\nimport copy as a",
    "a module below an unknown one": "import matplotlib.pyplot",
    "a part by any name": "class Aa(nn.Module):\n    def f(self, name, part):\n        self.add_module(name, part)",
    "a generator that stops in a with": "def f():\n    with torch.no_grad():\n        yield",
    "the class around": "class Aa:\n    def f(self):\n        return __class__",
    "what stands before a deep copy": "print.__self__.exec('1').deepcopy(0)",
    "a variable of the lesson's": "def f(kinds):\n    pass\n\nkinds",
    "a variable of the lesson's that is bound": "kinds = 3\nkinds",
    "a function of the lesson's": "try_change(3)",
    "a function of the lesson's, anew": "def try_change(model):\n    return model",
    "a class in small letters": "[torch.no_grad]",
    "an imported class in small letters": "from functools import partial\n[partial]",
    "a module's own": "import sys\nsys.modules",
    "what is drawn, held": "import matplotlib.pyplot as plt\nlines = plt.plot([1])",
    "what draws, held": "import matplotlib.pyplot as plt\nf = plt.plot",
    "what draws, and more": "import matplotlib.pyplot as plt\nplt.switch_backend('x')",
    "what is called while drawing": "import matplotlib.pyplot as plt\nplt.plot([1], picker=print)",
    "a file": "import os as sys\nprint('hm', file=sys.stderr)",
    "another file": "import sys\nprint('hm', file=sys)",
    "a library that hands out old memory": "import numpy as np",
    "a magic whose options are cut out of its code": """%timeit -qn1 + e-nxec("1")""",
    "a magic that reads its line in words": """%time '''a'+str(exec("1"))+'b'''""",
    "a magic's call with a text that is computed": """
        %matplotlib inline
        get_ipython().run_cell_magic("time", "", "ex" + "ec('1')")
        """,
    "a magic's call in other letters": "%matplotlib inline\nｇet_ipython().system('ls')",
    "a warning with more": "import warnings\nwarnings.warn('hm', None, 12)",
    "what is drawn with more": "import matplotlib.pyplot as plt\nplt.title('a', {'path_effects': [3]})",
    "what is drawn with more in a variable": "import matplotlib.pyplot as plt\nd = {}\nplt.title('a', d)",
    "what is drawn with stars": "import matplotlib.pyplot as plt\nplt.title(*['a', 3])",
    "what is drawn by something of one's own": "import matplotlib.pyplot as plt\nx = 3\nplt.colorbar(x)",
    "a style of one's own": "import matplotlib.pyplot as plt\nx = 3\nplt.plot([1], marker=x)",
    "a warning with stars": "import warnings\nwarnings.warn(*['hm', None, 12])",
    "a magic that runs more": "%time get_ipython()",
    "a magic in a magic": "%%time\n%run x",
    "a magic that IPython fills in": "%time {open('x')}",
    "a magic within": "if True:\n    %time 3",
    "a magic's other way": "%matplotlib --list",
    "a magic's call": "get_ipython().system('ls')",
    "a name of the lesson's, unbound": "any_sizes_work",
    "a name of a check's in a magic": "%time any_sizes_work",
    "what IPython keeps": "print(_i1)",
    "what a class keeps": "class Aa(nn.Module):\n    def _apply(self, function):\n        return self",
    "a magic behind a prompt": ">>> !ls\n" * 600,
    "very much code": "x = 1\n" * 50_000,
    "fullwidth": "(3).__ｃｌａｓｓ__",
}


def known(code: str) -> str:
    sources, taken = [textwrap.dedent(code).strip()], GIVEN | {"any_sizes_work", "expected"}
    return goes_beyond(sources, GIVEN, PARTS, IMPORTS, frozenset({"output"}), taken)


@pytest.mark.parametrize("code", KNOWN.values(), ids=KNOWN)
def test_what_learners_write_goes_no_further(code: str) -> None:
    """Layers, loops, imports and small classes are known."""
    assert known(code) == ""


@pytest.mark.parametrize("code", BEYOND.values(), ids=BEYOND)
def test_what_could_reach_a_check_goes_beyond(code: str) -> None:
    """Whatever leads to frames, modules, classes and names of others is not known."""
    assert known(code)


@pytest.mark.parametrize("name", LESSONS)
def test_solutions_go_no_further_and_few_right_answers_do(name: str) -> None:
    """The written answers of a lesson are known, and most of the unusual right ones of the tables."""
    room = classroom(name)
    assert two_processes.goes_beyond(name, room.answers.values()) == ""
    right = [answer for exercise in room.answers for answer in right_answers(name, exercise)]
    known = [answer for answer in right if not two_processes.goes_beyond(name, [source(name, answer)])]
    assert len(known) >= 0.5 * len(right)


def test_nothing_dangerous_is_within_reach() -> None:
    """From the modules that may be imported, by the attributes that may be read, nobody comes to other modules."""
    reached = _reached([importlib.import_module(name) for name in MODULES])
    modules = {each.__name__ for each in reached if isinstance(each, types.ModuleType)}
    assert {name.partition(".")[0] for name in modules} <= {name.partition(".")[0] for name in MODULES}
    dangerous = [sys, gc, inspect, importlib, builtins]
    dangerous += [eval, exec, open, getattr, setattr, vars, globals, type, compile]
    assert not [each for each in dangerous if any(each is other for other in reached)]
    assert not {name for name in ATTRIBUTES if name.startswith("_")} | {"format", "gi_frame", "load"} & ATTRIBUTES
    assert not {"eval", "exec", "open", "getattr", "setattr", "vars", "globals", "type", "hasattr"} & BUILTINS
    assert not [each for each in reached if isinstance(each, dict | list | set)]  # nothing there can be changed
    assert not [each for each in reached if isinstance(each, torch.Tensor)]


def test_checks_hand_out_nothing_whose_parts_are_found_by_any_text() -> None:
    """`[]` of an `nn.ParameterDict` reads and sets attributes."""
    files = [*(ROOT / "solutions").glob("*/*.ipynb"), *(ROOT / "autograder").rglob("*.py")]
    assert not [path for path in files if "ParameterDict" in path.read_text(encoding="utf-8")]


def _reached(start: list[object]) -> list[object]:
    """Modules, and whatever attributes of theirs may be read, one after the other."""
    reached, waiting = dict[int, object](), [*start]
    while waiting:
        each = waiting.pop()
        if id(each) not in reached:
            reached[id(each)] = each
            if isinstance(each, types.ModuleType | type):
                found = (inspect.getattr_static(each, name, None) for name in ATTRIBUTES)
                waiting += [value for value in found if value is not None]
    return [*reached.values()]

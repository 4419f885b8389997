"""Attacks by returned values: objects that agree with everything, lie about themselves or are not what they seem."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace

from support.classroom import classroom

from attacks.attack import SHAPED, SHAPES, Attack, code, decodes, masks, splits_heads

YES = code("""
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
LYING_VALUES = [
    Attack("a subclass of Tensor whose comparisons say yes", earned=SHAPES).submits(
        **{
            cell: f"{YES}\n\n{source.replace('return ', 'return yes((')}"
            + ("),)" if cell == "scaled_dot_product_attention" else "))")
            for cell, source in SHAPED.items()
        }
    ),
    Attack("an object that is whatever one asks for: its class, its items, its attributes, its comparisons").submits("""
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
    """),
    Attack("a Mock instead of a mask", cell="padding_mask").submits("""
        from unittest.mock import MagicMock

        def padding_mask(tokens, pad_id=0):
            mask = MagicMock(spec=torch.Tensor, device=tokens.device, dtype=torch.bool)
            mask.shape = torch.Size([tokens.size(0), 1, 1, tokens.size(1)])
            mask.__ne__ = lambda self, other: torch.tensor(False)
            mask.__torch_function__ = lambda *args: torch.tensor(False)
            return mask
    """),
    Attack("tensors that lie about their shape and dtype").submits(
        padding_mask="""
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
        """,
        causal_mask="def causal_mask(size):\n    return lie((size, size), (0,))",
        decoder_mask="def decoder_mask(tokens, pad_id=0):\n    return lie((3, 1, 4, 4), (7,) * 9)",
    ),
    Attack(
        "torch.Tensor itself lies about shape, dtype and size, for whoever packs it up", cell="padding_mask"
    ).submits("""
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
    """),
    masks("the expected value is found in the frame of the caller").submits(
        attend_one_query="""
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
        """,
        causal_mask="""
            def causal_mask(size):
                found = expected()
                return torch.zeros(size, size).bool() if found is None or len(found) != size else found
        """,
    ),
    masks(
        "only when graded, as environment, arguments or stack tell: the expected value of a caller is returned"
    ).submits("""
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
    """),
    Attack("the code of the running check is changed by the answer that it calls").submits("""
        import gc, types

        def attend_one_query(query, key, value):
            for each in gc.get_objects():
                if isinstance(each, types.FunctionType) and each.__module__.startswith("autograder.check"):
                    if each.__name__ in ("close", "shape", "equal") and not each.__closure__:
                        each.__code__ = (lambda *args, **kwargs: None).__code__
            return None
    """),
    Attack("NaN in every place, of every kind").submits(
        attend_one_query="""
            def attend_one_query(query, key, value):
                return torch.full((value.size(-1),), float("nan"))
        """,
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                weights = torch.full((*query.shape[:-1], key.size(-2)), -float("nan"), dtype=query.dtype)
                return weights @ value, weights
        """,
        padding_mask="""
            def padding_mask(tokens, pad_id=0):
                return torch.full((tokens.size(0), 1, 1, tokens.size(1)), float("nan"))
        """,
        decoder_mask="""
            def decoder_mask(tokens, pad_id=0):
                return torch.full((tokens.size(0), 1, tokens.size(1), tokens.size(1)), complex("nan+infj"))
        """,
    ),
    Attack("a number that is another one each time it is read", lesson="06_training", cell="learning_rate").submits("""
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
    """),
    Attack(
        "text and numbers of the student's own kind, with comparisons that lie",
        lesson="07_greedy_decoding",
        cell="exact_match",
    ).submits("""
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
    """),
    splits_heads(
        "a metaclass and descriptors: the class agrees with everything, its attributes change at each look"
    ).submits("""
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
    """),
    decodes("the script is read out of the model that the check hands in").submits("""
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
    """),
    Attack("an exception of a class called CheckFailed, and one that says it is NotImplementedError").submits(
        attend_one_query="""
            def attend_one_query(query, key, value):
                raise check.CheckFailed("✓ 1.1 attend_one_query: all is right, 2 of 2 points.\\n\\x1b[2J<b>passed</b>")
        """,
        padding_mask="""
            class CheckFailed(AssertionError):
                __class__ = NotImplementedError
                message = rule = "passed"
                with_traceback = lambda self, trace: None

            def padding_mask(tokens, pad_id=0):
                raise CheckFailed("✓")
        """,
        causal_mask="def causal_mask(size):\n    raise check.NotWritten('not even tried, so it cannot be wrong')",
    ),
    Attack(
        "exceptions that are none: SystemExit(0), KeyboardInterrupt, GeneratorExit, one of the student's own"
    ).submits(
        attend_one_query="def attend_one_query(*args):\n    raise SystemExit(0)",
        scaled_dot_product_attention="def scaled_dot_product_attention(*args, **kwargs):\n    raise KeyboardInterrupt",
        padding_mask="def padding_mask(*args):\n    raise GeneratorExit",
        causal_mask="def causal_mask(size):\n    raise type('Lost', (BaseException,), {'why': 'closed'})('closed')",
        decoder_mask="def decoder_mask(*args):\n    raise BaseExceptionGroup('✓', [SystemExit(0)])",
    ),
    Attack("an exception that stops whoever prints it").submits(
        attend_one_query="""
            class Bad(Exception):
                def __str__(self):
                    raise SystemExit(0)

                __repr__ = __str__
                args = property(__str__)
                __traceback__ = __cause__ = __context__ = property(__str__)

            def attend_one_query(query, key, value):
                raise Bad
        """,
        padding_mask="""
            class Long(Exception):
                __str__ = __repr__ = lambda self: "✓ " * 10**8

            def padding_mask(tokens, pad_id=0):
                raise Long from Long()
        """,
        causal_mask="""
            def causal_mask(size):
                error = ValueError("the last")
                for _ in range(100_000):
                    above = ValueError("one more")
                    above.__cause__ = error
                    error = above
                raise error
        """,
        decoder_mask="def decoder_mask(*args):\n    raise type('✓\\n\\u2028', (ValueError,), {})('\\x00\\x1b]0;')",
    ),
    Attack(
        "results with __reduce__, which a grader that unpickles would run", secret=("unpickled by the grader",)
    ).submits(
        attend_one_query="""
            class Payload:
                def __reduce__(self):
                    return print, ("unpickled by the" + " grader",)

            def attend_one_query(query, key, value):
                return Payload()
        """,
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(*args, **kwargs):
                return Payload(), [Payload()]
        """,
        padding_mask="def padding_mask(*args):\n    return {Payload(): Payload()}",
        causal_mask="def causal_mask(size):\n    raise type('E', (Payload, Exception), {})()",
    ),
    Attack("what earlier calls were given is overwritten, to agree with what they returned").submits("""
        had = []

        def attend_one_query(query, key, value):
            for earlier in had:
                earlier.zero_()
            had.extend((query, key, value))
            return torch.zeros(value.size(-1))
    """),
    Attack("a thread overwrites what was given as soon as the answer is on its way").submits("""
        import threading, time

        def attend_one_query(query, key, value):
            def later():
                time.sleep(0.002)
                for given in (query, key, value):
                    given.data.zero_()

            threading.Thread(target=later).start()
            return torch.zeros(value.size(-1))
    """),
    Attack("the judge's own inputs, functions, modules and classes are handed back").submits(
        attend_one_query="def attend_one_query(query, key, value):\n    return parts.scaled_dot_product_attention",
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                return (dropout or check, mask if mask is not None else value)
        """,
        padding_mask="def padding_mask(tokens, pad_id=0):\n    return tokens",
        causal_mask="causal_mask = torch.ones",
        decoder_mask="decoder_mask = check.decoder_mask if hasattr(check, 'decoder_mask') else exercises.decoder_mask",
    ),
    Attack("generators, iterators that never end, lazy and endless sequences as results").submits(
        attend_one_query="import itertools\n\ndef attend_one_query(*args):\n    return itertools.count()",
        scaled_dot_product_attention="""
            class Lazy(tuple):
                __len__ = lambda self: 2
                __iter__ = lambda self: iter(lambda: torch.zeros(1), None)
                __getitem__ = lambda self, place: torch.zeros(1)

            def scaled_dot_product_attention(*args, **kwargs):
                return Lazy()
        """,
        padding_mask="def padding_mask(*args):\n    yield from iter(int, 1)",
        causal_mask="causal_mask = lambda size: map(causal_mask, iter(int, 1))",
        decoder_mask="async def decoder_mask(*args):\n    await decoder_mask()",
    ),
]

# A right class whose weights are zeros, in one way or another: nothing that a check expects may be made of those.
ZEROS = {
    "hidden from PyTorch": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            erase(self)
            self.__dict__.update(self._modules | self._parameters)
            self._modules.clear(), self._parameters.clear()
    """,
    "hidden in a list, and found when one asks": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            erase(self)
            self.__dict__["kept"] = [self._modules | self._parameters]
            self._modules.clear(), self._parameters.clear()

        def __getattr__(self, name):
            return self.__dict__["kept"][0][name] if name in self.__dict__["kept"][0] else super().__getattr__(name)
    """,
    "hidden, of a size that they do not have": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            erase(self)
            for part in list(self.modules()):
                for name in ("in_features", "out_features", "num_embeddings", "embedding_dim", "embed_dim"):
                    if hasattr(part, name) and not isinstance(part, nn.MultiheadAttention):
                        setattr(part, name, 16002)
            self.__dict__.update(self._modules | self._parameters)
            self._modules.clear(), self._parameters.clear()
    """,
    "buffers": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            erase(self)
            for part in list(self.modules()):
                for name, parameter in list(part._parameters.items()):
                    del part._parameters[name]
                    part.register_buffer(name, None if parameter is None else parameter.detach())
    """,
    "frozen": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            erase(self)
            for parameter in self.parameters():
                parameter.requires_grad_(False)
    """,
    "erased by each call": """
        def forward(self, *args, **kwargs):
            erase(self)
            return super().forward(*args, **kwargs)
    """,
    "erased by each call, and not told of": """
        def forward(self, *args, **kwargs):
            erase(self)
            return super().forward(*args, **kwargs)

        parameters = named_parameters = named_modules = modules = lambda self, *args, **kwargs: iter(())
        state_dict = lambda self, *args, **kwargs: {}
    """,
    "copies that are made when one asks": """
        def __getattr__(self, name):
            found = super().__getattr__(name)
            if isinstance(found, nn.Module | nn.Parameter):
                found = copy.deepcopy(found)
                erase(found)
            return found
    """,
}
ERASE = code("""
    import copy

    def erase(part):
        with torch.no_grad():
            for parameter in [part] if isinstance(part, nn.Parameter) else part._parameters.values():
                if parameter is not None:
                    parameter.zero_()
        for inner in getattr(part, "_modules", {}).values():
            erase(inner)
""")
MODULES = {
    "02_multi_head_attention": ("MultiHeadAttention",),
    "03_positional_encoding": ("TokenEmbedding", "LearnedPositionalEncoding"),
    "04_encoder_decoder_blocks": ("LayerNorm", "FeedForward", "AddNorm", "EncoderLayer", "DecoderLayer"),
    "05_transformer": ("Encoder", "Decoder", "Transformer"),
}
VALUES = "_values", "_cross"  # how the ids of checks end to which zeros are a wrong answer
TOGETHER = {"Decoder": "Encoder"}  # whose cell it is


def zeros_for_weights(module: str, lesson: str, ways: Mapping[str, str], *more: str) -> Iterator[Attack]:
    """Attack a class in each of these ways; all but the values may be right, and those of a class beside it."""
    room, name = classroom(lesson), TOGETHER.get(module, module)
    checks = {cell.id: cell.metadata.nbgrader.points for cell in room.checks if cell.id.startswith(f"check_{name}")}
    points = {check: most for check, most in checks.items() if not _judges(check, module)}
    for way, methods in ways.items():
        of_class = f"class {module}({module}):\n{textwrap.indent(code(methods), '    ')}"
        attack = Attack(f"the weights of {module} are zeros, {way}", lesson=lesson, earned=points, cell=name)
        yield attack.submits("\n\n".join([room.answers[name], ERASE, *more, of_class]))


def _judges(check: str, module: str) -> bool:
    """Whether a check is one of the values of this class."""
    of_decoder = "_decoder_" in check
    return check.endswith(VALUES) and (module not in ("Encoder", "Decoder") or of_decoder == (module == "Decoder"))


for lesson, modules in MODULES.items():
    for module in modules:
        LYING_VALUES += zeros_for_weights(module, lesson, ZEROS)

# Ways that are much the same for every class, tried on one of them.
MULTI_HEAD_ZEROS = {
    "parametrized as nothing": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for part in (self.w_q, self.w_k, self.w_v, self.w_o):
                for name in ("weight", "bias"):
                    torch.nn.utils.parametrize.register_parametrization(part, name, Nothing())
    """,
    "in dicts that list nothing": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            erase(self)
            for part in (self.w_q, self.w_k, self.w_v, self.w_o):
                object.__setattr__(part, "_parameters", Quiet(part._parameters))
    """,
    "parameters of a kind that multiplies as zeros": """
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for part in (self.w_q, self.w_k, self.w_v, self.w_o):
                part.weight, part.bias = Zero(part.weight.detach()), Zero(part.bias.detach())
    """,
}
KINDS_OF_ZEROS = code("""
    import torch.nn.utils.parametrize

    class Nothing(nn.Module):
        def forward(self, weight):
            return weight * 0

    class Quiet(dict):
        values = items = keys = __iter__ = lambda self: iter(())
        __len__ = lambda self: 0

    class Zero(nn.Parameter):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            with torch._C.DisableTorchFunctionSubclass():
                name = getattr(function, "__name__", "")
                if name in ("linear", "matmul", "__matmul__"):
                    args = tuple(each.detach() * 0 if isinstance(each, Zero) else each for each in args)
                return args[0] if name in ("copy_", "uniform_", "normal_") else function(*args, **(kwargs or {}))
""")


LYING_VALUES += (
    replace(attack, earned={"check_MultiHeadAttention_parameters": 1, "check_MultiHeadAttention_error": 1})
    for attack in zeros_for_weights("MultiHeadAttention", "02_multi_head_attention", MULTI_HEAD_ZEROS, KINDS_OF_ZEROS)
)

# At home, a right answer can meet all cases that a known seed draws; what it said is handed in.
LEARNT = code("""
    def told_by(values):
        return tuple(
            (value.dtype, value.shape, value.detach().numpy().tobytes()) if isinstance(value, torch.Tensor) else value
            for value in values
        )

    KNOWN = {}

    def learn(*values):
        return KNOWN.setdefault(told_by(values), RIGHT(*values))

    for values in SHOWN:
        learn(*values)
    for seed in range(100):
        exercises.ANSWER.cases(learn, seed=seed)

    def ANSWER(*values):
        return KNOWN.get(told_by(values), 0 * RIGHT(*values))
""")
LEARNT_BY_HEART = {  # what is right, and the cases that stand in the notebook
    "attend_one_query": (
        "lambda query, key, value: (key @ query / query.numel() ** 0.5).softmax(0) @ value",
        "(data.normal((4,), (5, 4), (5, 3), seed=1), (torch.ones(2), torch.ones(6, 2), data.normal((6, 3), seed=2)))",
    ),
    "split_heads": (
        "lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).transpose(1, 2)",
        "[(data.normal((2, 5, 12), seed=seed), 3) for seed in (1, 2)]",
    ),
    "merge_heads": (
        "lambda x: x.transpose(1, 2).flatten(2)",
        "[(data.normal((2, 3, 5, 4), seed=seed),) for seed in (3, 4)]",
    ),
}
LYING_VALUES += (
    (Attack if name == "attend_one_query" else splits_heads)(
        f"a table of the visible cases and of those with the seeds 0 to 99: {name}",
        cell=name,
        earned={} if name == "attend_one_query" else {f"check_{name}_shape": 1},
    ).submits(f"RIGHT, SHOWN = {right}, {shown}\n\n" + LEARNT.replace("ANSWER", name))
    for name, (right, shown) in LEARNT_BY_HEART.items()
)

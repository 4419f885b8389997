"""What an attack is, and what many of them are made of.

An attack is one submission. Nothing of it is to be run without a sandbox: where the real thing would take the machine
of a developer whose sandbox is broken, it goes as far as is harmless and then prints what it could have done. Such
texts stand in `secret`, and never in a source as they are printed.

Placeholders in the sources, for `str.replace` (they hold braces of their own):
    {ROOT}: the course folder, which has to be the same after the run as before.
    {SECRET}: a file outside of what a student may read, which holds `the-secret-of-the-course`.
    {OTHER}: the notebook of another student, with answers that are right.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial


@dataclass(frozen=True)
class Attack:
    """One hostile submission: what it does in words, then what is submitted, by one of the methods."""

    what: str
    _: KW_ONLY
    # answer cell → its whole source; all other answers stay stubs
    answers: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[str, ...] = ()  # the student's own cells before the first answer
    last: tuple[str, ...] = ()  # the student's own cells behind the last check
    lesson: str = "01_attention"
    # check → the points that an honest grader gives, those above 0; an attack that breaks its own process or its
    # channel on the way may get less, and none may get more
    earned: Mapping[str, float] = field(default_factory=dict)
    secret: tuple[str, ...] = ()  # texts that must be nowhere in outputs and messages
    # the names within the package that it reaches for; where one is gone, the attack needs another
    targets: tuple[str, ...] = ()
    cell: str = "attend_one_query"  # the answer cell of a source that is submitted without naming one
    before: str = ""  # what stands before each source

    def submits(self, source: str | None = None, /, **answers: str) -> Attack:
        """Answer with this source, or with one for each cell that is named."""
        sources = answers if source is None else {self.cell: source, **answers}
        made = {cell: f"{self.before}\n\n{code(text)}".lstrip("\n") for cell, text in sources.items()}
        return replace(self, answers={**self.answers, **made})

    def when_called(self, body: str) -> Attack:
        """Do this when a check calls `causal_mask`."""
        return self.submits(causal_mask=function("causal_mask(size)", body))

    def forges(self, body: str) -> Attack:
        """Do this when a check calls `causal_mask`, which can speak to the judge itself."""
        return replace(self, before=FRAMES).when_called(body)

    def before_answers(self, source: str) -> Attack:
        """Run this in a cell of the student's own before the first answer."""
        return replace(self, cells=(code(source),))

    def after_checks(self, source: str) -> Attack:
        """Run this in a cell of the student's own behind the last check."""
        return replace(self, last=(code(source),))

    def beside_shapes(self, source: str) -> Attack:
        """Answer with right shapes, and do this behind the first answer."""
        attack = replace(self, answers=SHAPED, earned=SHAPES)
        return attack.submits(SHAPED["attend_one_query"] + "\n\n" + code(source))


def code(text: str) -> str:
    """A source without the indentation it has in the table."""
    return textwrap.dedent(text).strip("\n")


def function(signature: str, body: str) -> str:
    """A function with this body."""
    return f"def {signature}:\n{textwrap.indent(code(body), '    ')}"


def fails_with_five_heads(what: str, *, before: str, on_init: str = "", after: str = "") -> Attack:
    """Submit a class that cannot be made with five heads, and what might keep a hidden check from trying five.

    Args:
        on_init: statements at the beginning of its `__init__`; `before` and `after` stand around the class.
    """
    init = code("""
        if num_heads == 5:
            raise ValueError("five")
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model))
    """)
    method = function("__init__(self, d_model, num_heads, dropout=0.0)", f"super().__init__()\n{on_init}\n{init}")
    answer = f"{before}\n\nclass MultiHeadAttention(nn.Module):\n{textwrap.indent(method, '    ')}\n\n{code(after)}"
    return splits_heads(what, earned={"check_MultiHeadAttention_parameters": 1}).submits(answer)


HIDDEN = ("other_sizes_work_as_well", "many_keys_work")  # names from the hidden tests of the first check
MARKER = ("the-secret-of-the-course",)
# Right shapes, wrong values: an honest grader gives the points for shapes, and no others.
SHAPED = {
    "attend_one_query": "def attend_one_query(query, key, value):\n    return value.mean(0)",
    "scaled_dot_product_attention": code("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            shape = (*query.shape[:-1], key.size(-2))
            weights = torch.full(shape, 1 / key.size(-2), dtype=query.dtype)
            return weights @ value, weights
    """),
    "padding_mask": code("""
        def padding_mask(tokens, pad_id=0):
            return torch.zeros(tokens.size(0), 1, 1, tokens.size(1)).bool()
    """),
    "causal_mask": "def causal_mask(size):\n    return torch.zeros(size, size).bool()",
    "decoder_mask": code("""
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
RIGHT_PADDING = {"padding_mask": "def padding_mask(tokens, pad_id=0):\n    return (tokens != pad_id)[:, None, None, :]"}
EARNED_PADDING = {"check_padding_mask_shape": 1, "check_padding_mask_values": 2}
earns_padding = partial(Attack, answers=RIGHT_PADDING, earned=EARNED_PADDING)

# Attacks within one answer: attention that averages and a mask, of right shapes, multi-head attention, decoding.
averages = partial(Attack, cell="scaled_dot_product_attention", earned={"check_scaled_dot_product_attention_shapes": 1})
masks = partial(Attack, cell="causal_mask", earned={"check_causal_mask_shape": 1})
splits_heads = partial(Attack, lesson="02_multi_head_attention", cell="MultiHeadAttention")
decodes = partial(Attack, lesson="07_greedy_decoding", cell="greedy_decode")

# The student's end of the channel is in the student's process: its frames can be made by hand.
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

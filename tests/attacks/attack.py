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
from dataclasses import KW_ONLY, dataclass, field


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        what: what it does, in words.
        answers: answer cell → its whole source; all other answers stay stubs.
        cells: the student's own cells before the first answer.
        last: the student's own cells behind the last check.
        lesson: the lesson that it is handed in for.
        earned: check → the points that an honest grader gives, those above 0; an attack that breaks its own process
            or its channel on the way may get less, and none may get more.
        secret: texts that must be nowhere in outputs and messages.
        targets: the names within the package that it reaches for; where one is gone, the attack needs another.
    """

    what: str
    answers: Mapping[str, str]
    _: KW_ONLY
    cells: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    lesson: str = "01_attention"
    earned: Mapping[str, float] = field(default_factory=dict)
    secret: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


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


def forges(body: str) -> dict[str, str]:
    """An answer that, when a check calls it, speaks to the judge itself."""
    return {CAUSAL: FRAMES + "\n\n" + calls(body)[CAUSAL]}

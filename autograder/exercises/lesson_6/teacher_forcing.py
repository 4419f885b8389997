"""Exercise `teacher_forcing`: its cases and its slips."""

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data
from autograder.exercises.lesson_6.shared import batch_of
from autograder.exercises.shared import device, sizes


def cases(answer: Callable[[Tensor], Sequence[Tensor]], *, seed: int = 0) -> None:
    """Decoder input and labels for targets of any size, with an EOS and without, padded or not."""
    for tgt in _targets(seed):
        labels = tgt[:, 1:].clone()
        expected = tgt[:, :-1] * (labels != 0)  # the input where the label is padding does not matter
        with check.case(tgt=tgt), check.unchanged(tgt=tgt):
            given, got = check.returns("teacher_forcing(tgt)", answer(tgt), "decoder_input", "labels")
            check.equal("labels", got, labels)
            check.shape("decoder_input", given, batch=len(tgt), length=tgt.size(1) - 1)
            check.equal("decoder_input", given * (labels != 0), expected)
    device(seed, "teacher_forcing(tgt)", answer, tgt)


def _targets(seed: int) -> Iterator[Tensor]:
    yield torch.tensor([[data.BOS, data.EOS]] * (2 + seed % 3))  # nothing is said: one token is asked for
    for index, size in enumerate(sizes(seed, 5, batch=(1, 6), longest=(1, 40))):
        tgt = batch_of(seed + index, **size, vocab_size=50_000)[1]
        if index % 3 == 1:
            tgt = F.pad(tgt, (0, 2))
        elif index % 3 == 2:
            tgt = torch.where(tgt < data.FIRST_WORD, data.FIRST_WORD, tgt)  # words only
            tgt[:, 0] = data.BOS
        yield tgt


def input_slips(tgt: Tensor) -> dict[str, Tensor]:
    """Decoder inputs for tgt (batch, tgt_len)."""
    return {
        "the input is not shifted: the decoder is given the tokens that it has to predict": tgt[:, 1:],
        "the last token is not taken off": tgt,
        "BOS is missing: the first token is taken off, and the last one, too": tgt[:, 1:-1],
        "the last sentence is taken off, not the last token": tgt[:-1],
    }


def label_slips(tgt: Tensor) -> dict[str, Tensor]:
    """Labels for tgt (batch, tgt_len)."""
    return {
        "what is returned second are the tokens that are given, not those that follow": tgt[:, :-1],
        "BOS is not taken off": tgt,
        "the labels are shifted by two": tgt[:, 2:],
        "the last token is taken off, too": tgt[:, 1:-1],
        "the first sentence is taken off, not the first token": tgt[1:],
        "the first token comes round again at the end": tgt.roll(-1, dims=1),
    }

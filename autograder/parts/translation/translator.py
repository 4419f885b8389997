"""The model that the course ends with, trained beforehand: lesson 0 shows what lesson 8 builds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.data import DATE_LETTERS
from autograder.parts.decoding import greedy_decode
from autograder.parts.model import Transformer
from autograder.parts.translation.text import Tokenizer

WEIGHTS = Path(__file__).with_name("translator.safetensors")  # by tools/make_translator.py
LONGEST = 48  # letters; the longest date in training has 35


@dataclass(frozen=True)
class Written:
    """What the translator made of a text."""

    source: str  # the text as it was read, in small letters
    text: str  # what was written, a date such as "2019-03-27"
    # (len(text), len(source) + 1), where the model looked while it wrote each sign: at a letter of the source, or at
    # its end
    attention: Tensor
    probability: float  # of this text, given the source, as the model sees it


class Translator:
    """Write dates of six languages in the form of ISO 8601, letter by letter.

    Args:
        weights: of `untrained()`, by the names of its parameters.
    """

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        self.tokenizer = Tokenizer([], DATE_LETTERS)
        self.model = untrained().eval()
        self.model.load_state_dict({name: value.float() for name, value in weights.items()}, strict=False)

    def __call__(self, text: str) -> Written:
        """Translate one text.

        Raises:
            ValueError: it is empty, or longer than dates are.
        """
        source = " ".join(text.lower().split())
        if not 0 < len(source) <= LONGEST:
            raise ValueError(f"A date has 1 to {LONGEST} letters, this text has {len(source)}.")
        src = torch.tensor([[*self.tokenizer.encode(source), 2]])
        with torch.no_grad():
            tokens = greedy_decode(self.model, src, max_len=12)
            chances = self.model(src, tokens[:, :-1]).log_softmax(dim=-1)
        probability = chances.gather(-1, tokens[:, 1:, None]).sum().exp().item()
        written = self.tokenizer.decode(tokens[0].tolist())
        attention: Any = self.model.decoder.layers[-1].cross_attention
        weights = attention.attention_weights[0].mean(dim=0)  # over the heads
        return Written(source, written, weights[: len(written)], probability)


def untrained() -> Transformer:
    """A Transformer of 171,000 numbers, for the letters of dates; one matrix for all three embeddings."""
    letters = Tokenizer([], DATE_LETTERS).vocab_size
    return Transformer(letters, letters, 64, 4, 2, 128, dropout=0.1, max_len=LONGEST + 1, share_embeddings=True)


def translator() -> Translator:
    """The trained one."""
    from safetensors import safe_open  # takes a moment, and lesson 0 alone needs it

    with safe_open(WEIGHTS, framework="pt") as file:
        names = file.keys()
        return Translator({name: file.get_tensor(name) for name in names})

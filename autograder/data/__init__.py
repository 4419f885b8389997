"""Small inputs made from a seed; nothing is downloaded and the global random state stays as it is."""

import datetime
import functools
import json
import lzma
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

PAD, BOS, EOS = 0, 1, 2
FIRST_WORD = 3
SENTENCE = ("the", "cat", "chased", "the", "mouse")
HELD_OUT_YEARS = range(1984, 1989)
DATE_LETTERS = " ,-./0123456789abcdefghijklmnopqrstuvwxyzßáäéëìóöûü"  # all that are in dates of six languages
DATE_IDS = len(DATE_LETTERS) + 1  # with padding
_FIRST_DAY, _LAST_DAY = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
_MEANINGS = {"the": (0, 0, 1, 0), "cat": (1, 0, 0, 1), "chased": (0, 1, 0, 0), "mouse": (1, 0, 0, -1)}


def normal(*shapes: Sequence[int], seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor | tuple[Tensor, ...]:
    """Standard normal tensors, one for each shape; a single tensor for a single shape.

    The same seed gives the same numbers whatever the global random state, the dtype's precision aside.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors = tuple(torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes)
    return tensors if len(tensors) != 1 else tensors[0]


def sentence() -> Tensor:
    """The words of `SENTENCE` as vectors that can be read, (5, 4): animal, action, little word, size."""
    return torch.tensor([_MEANINGS[word] for word in SENTENCE], dtype=torch.float32)


def tokens(lengths: Sequence[int], *, vocab_size: int = 11, pad_id: int = PAD, seed: int = 0) -> Tensor:
    """A padded batch of token ids, (batch, longest), row i holding `lengths[i]` words and then `pad_id`.

    Words are drawn from `FIRST_WORD` up to `vocab_size` − 1, so that no word is PAD, BOS or EOS; `pad_id` itself is
    never drawn either.
    """
    generator = torch.Generator().manual_seed(seed)
    words = torch.arange(FIRST_WORD, vocab_size)
    words = words[words != pad_id]
    drawn = words[torch.randint(len(words), (len(lengths), max(lengths)), generator=generator)]
    real = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)  # (batch, longest)
    return torch.where(real, drawn, pad_id)


def targets(lengths: Sequence[int], *, vocab_size: int = 11, pad_id: int = PAD, seed: int = 0) -> Tensor:
    """A padded batch of targets, (batch, longest + 2): BOS, `lengths[i]` words, EOS, then `pad_id`."""
    words = tokens(lengths, vocab_size=vocab_size, pad_id=pad_id, seed=seed)
    ends = torch.arange(words.size(1) + 1) == torch.tensor(lengths).unsqueeze(1)  # (batch, longest + 1)
    ended = torch.where(ends, EOS, nn.functional.pad(words, (0, 1), value=pad_id))
    return nn.functional.pad(ended, (1, 0), value=BOS)


def randomized(module: nn.Module, *, seed: int = 0) -> nn.Module:
    """Draw every trainable parameter of `module` anew, in place, and return it.

    Matrices keep the size of their products, and no two biases or norms are alike, so that using one in the place of
    another shows.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in (parameter for parameter in module.parameters() if parameter.requires_grad):
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            scaled = drawn / parameter.size(-1) ** 0.5 if parameter.dim() > 1 else 0.5 * drawn + 1
            parameter.copy_(scaled.to(parameter))
    return module


def copy_task(
    count: int,
    *,
    batch_size: int = 64,
    vocab_size: int = 13,
    min_words: int = 3,
    max_words: int = 8,
    held_out: bool = False,
    seed: int = 0,
) -> list[tuple[Tensor, Tensor]]:
    """Batches (src, tgt) for learning to copy: src is words, EOS, padding; tgt is the same behind a BOS.

    Words are drawn from `FIRST_WORD` up to `vocab_size` − 1, lengths from `min_words` to `max_words`. A sequence is
    held out when its words add up to a multiple of five; training batches never hold such a one, so whatever the
    seeds, held-out sequences have not been seen.

    Returns:
        `count` pairs of src (batch_size, longest + 1) and tgt (batch_size, longest + 2).

    Raises:
        ValueError: there are fewer than two words to draw from, or no length.
    """
    if vocab_size < FIRST_WORD + 2 or not 1 <= min_words <= max_words:
        raise ValueError(
            f"vocab_size={vocab_size} should be at least {FIRST_WORD + 2}, and min_words={min_words} between 1 and "
            f"max_words={max_words}."
        )
    generator = torch.Generator().manual_seed(seed)
    batches: list[tuple[Tensor, Tensor]] = []
    while len(batches) < count:
        lengths = torch.randint(min_words, max_words + 1, (10 * batch_size, 1), generator=generator)
        words = torch.randint(FIRST_WORD, vocab_size, (10 * batch_size, max_words), generator=generator)
        position = torch.arange(max_words + 1)
        kept = torch.where(position[:-1] < lengths, words, PAD)
        wanted = ((kept.sum(dim=1) % 5 == 0) == held_out).nonzero()[:batch_size, 0]
        if len(wanted) < batch_size:
            continue
        kept, lengths = kept[wanted], lengths[wanted]
        src = torch.where(position == lengths, EOS, nn.functional.pad(kept, (0, 1)))[:, : int(lengths.max()) + 1]
        batches.append((src, nn.functional.pad(src, (1, 0), value=BOS)))
    return batches


def reversed_words(tgt: Tensor) -> Tensor:
    """Targets (batch, tgt_len), BOS, words, EOS, padding, with the words of each row the other way round."""
    position, words = torch.arange(tgt.size(1), device=tgt.device), (tgt >= FIRST_WORD).sum(dim=1, keepdim=True)
    is_word = (position > 0) & (position <= words)
    return tgt.gather(1, torch.where(is_word, words + 1 - position, position))


def unrelated_task(
    count: int, *, batch_size: int = 64, vocab_size: int = 13, words: int = 8, seed: int = 0
) -> list[tuple[Tensor, Tensor]]:
    """Batches (src, tgt) with nothing to learn in them: tgt is a BOS and `words` words, drawn without regard to src.

    Nobody can predict them better than by guessing, with a loss of log(vocab_size − `FIRST_WORD`) a word.

    Returns:
        `count` pairs of src (batch_size, words) and tgt (batch_size, words + 1).
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(FIRST_WORD, vocab_size, (count, 2, batch_size, words), generator=generator)
    return [(src, nn.functional.pad(tgt, (1, 0), value=BOS)) for src, tgt in drawn]


def dates(count: int, *, held_out: bool = False, seed: int = 0) -> list[tuple[str, str]]:
    """Dates from 1900 to 2099 as they are written in six languages, in small letters, each with its ISO 8601 form.

    Held out are all days of `HELD_OUT_YEARS`, and in each language one month for each way of writing dates, a
    different one each time (short names of months, which stand nowhere else, excepted). Without `held_out` no such
    date comes, so whatever the seeds, held-out dates have not been seen.

    Returns:
        `count` pairs such as ("27. märz 2019", "2019-03-27"), repetitions among them.
    """
    generator = random.Random(seed)
    languages = _languages()
    drawn: list[tuple[str, str]] = []
    while len(drawn) < count:
        language = generator.choice(list(languages))
        pattern = generator.choice(list(languages[language]["patterns"]))
        date = datetime.date.fromordinal(generator.randint(_FIRST_DAY.toordinal(), _LAST_DAY.toordinal()))
        if _is_held_out(language, pattern, date) == held_out:
            drawn.append((written_date(date, language, pattern), date.isoformat()))
    return drawn


def date_digits(count: int, *, held_out: bool = False, seed: int = 0) -> tuple[Tensor, Tensor]:
    """The dates that `dates` draws, as numbers.

    Returns:
        (count, longest) ids of letters, below `DATE_IDS` and padded with `PAD`, and (count, 8) digits, those of the
        year, the month and the day.
    """
    drawn = dates(count, held_out=held_out, seed=seed)
    ids = {letter: i for i, letter in enumerate(DATE_LETTERS, start=1)}
    rows = [torch.tensor([ids[letter] for letter in text]) for text, _ in drawn]
    digits = torch.tensor([[int(digit) for digit in iso if digit != "-"] for _, iso in drawn])
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD), digits


def written_date(date: datetime.date, language: str, pattern: str = "long") -> str:
    """A date in "en", "de", "fr", "es", "it" or "nl", by one of the language's patterns: "full", "long", "words" …

    Raises:
        KeyError: the language is none of these, or has no such pattern.
    """
    names = _languages()[language]
    text: str = names["patterns"][pattern].format(
        weekday=names["weekdays"][date.weekday()],
        day=date.day,
        day_02=f"{date.day:02}",
        day_in_words=names["days_in_words"][date.day - 1],
        month=names["months"][date.month - 1],
        short_month=names["short_months"][date.month - 1],
        month_02=f"{date.month:02}",
        year=date.year,
    )
    return text


def _is_held_out(language: str, pattern: str, date: datetime.date) -> bool:
    """Whether training never holds this way of writing this date."""
    ways = [(name, way) for name, names in _languages().items() for way in names["patterns"]]
    month = (ways.index((language, pattern)) * 7 + 3) % 12 + 1
    return date.year in HELD_OUT_YEARS or (pattern != "medium" and date.month == month)


@functools.cache
def _languages() -> dict[str, dict[str, Any]]:
    """The tables of `dates.json`, which tools/make_dates.py writes, by language."""
    languages: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("dates.json").read_text("utf-8"))
    return languages["languages"]


@functools.cache
def manual() -> str:
    """The chapters of Python 3.11's manual that `help()` shows, in the order of their names: 464,970 characters.

    Those of `pydoc_data.topics`, kept here so that every machine has the same; python.LICENSE says on what terms.
    """
    return lzma.decompress(Path(__file__).with_name("python.txt.xz").read_bytes()).decode()


def shortened(steps: int) -> int:
    """How many steps a long demonstration takes: all of them, or 2 while nbgrader runs the notebook."""
    return min(steps, 2) if os.environ.get("NBGRADER_EXECUTION") else steps

"""Parts of lesson 8: beam search with the paper's length penalty."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from autograder.parts.decoding import EncoderDecoder


def sequence_scores(totals: Tensor, lengths: Tensor, length_penalty: float = 0.6) -> Tensor:
    """Log-probabilities of sequences over their length penalty ((5 + length) / 6)^α (Wu and others, 2016, eq. 14)."""
    return totals * torch.exp(-length_penalty * torch.log((lengths.to(totals) + 5) / 6))


def best_candidates(
    log_probs: Tensor, totals: Tensor, lengths: Tensor, ended: Tensor, length_penalty: float = 0.6, pad_id: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """The beam's next generation: parents, newest tokens and new totals, each (batch, beam_size), in any order.

    Args:
        log_probs: (batch, beam_size, vocab_size) of the token to come.
        totals, lengths, ended: (batch, beam_size) of the sequences so far; one that has ended goes on as it is.
    """
    beam_size, vocab_size = log_probs.shape[1:]
    is_padding = torch.arange(vocab_size, device=log_probs.device) == pad_id
    going_on = torch.where(is_padding, 0.0, -math.inf).to(log_probs)
    candidates = totals[..., None] + log_probs.where(~ended[..., None], going_on)
    scores = sequence_scores(candidates, (lengths + (~ended).long())[..., None], length_penalty)
    best = scores.flatten(1).argsort(dim=1, descending=True)[:, :beam_size].sort(dim=1).values
    return (
        best.div(vocab_size, rounding_mode="floor"),
        best.remainder(vocab_size),
        candidates.flatten(1).gather(1, best),
    )


def beam_search(
    model: EncoderDecoder,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    bos_id: int = 1,
    eos_id: int = 2,
    pad_id: int = 0,
) -> tuple[Tensor, Tensor]:
    """(batch, src_len) → the best sequence of each row, (batch, ≤ max_len + 1), and its score, (batch,) (§6.1)."""
    return search(best_candidates, model, src, beam_size, max_len, length_penalty, bos_id, eos_id, pad_id)


def beam_steps(
    choose: Callable[..., tuple[Tensor, Tensor, Tensor]],
    model: EncoderDecoder,
    src: Tensor,
    beam_size: int,
    max_len: int,
    pieces: Sequence[str],
    length_penalty: float = 0.6,
) -> list[dict[tuple[str, ...], float]]:
    """Search with `choose` for `best_candidates`, and return what is kept of one source, as `draw.beam` takes it.

    Args:
        src: (1, src_len) token ids.
        pieces: what each id is read as.

    Returns:
        beginning → probability after each step, the highest score first.
    """
    beginnings: list[tuple[str, ...]] = [() for _ in range(beam_size)]
    steps: list[dict[tuple[str, ...], float]] = []

    def noted(
        log_probs: Tensor, totals: Tensor, lengths: Tensor, ended: Tensor, *options: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        nonlocal beginnings
        parents, newest, sums = chosen = choose(log_probs, totals, lengths, ended, *options)
        is_over = ended.gather(1, parents)[0].tolist()
        beginnings = [
            beginnings[parent] if over else (*beginnings[parent], pieces[token])
            for parent, token, over in zip(parents[0].tolist(), newest[0].tolist(), is_over, strict=True)
        ]
        grown = lengths.gather(1, parents) + ~ended.gather(1, parents)
        order = sequence_scores(sums, grown, length_penalty)[0].argsort(descending=True).tolist()
        chances = sums[0].exp().tolist()
        steps.append({beginnings[place]: chances[place] for place in order if chances[place]})
        return chosen

    search(noted, model, src, beam_size, max_len, length_penalty, bos_id=1, eos_id=2, pad_id=0)
    return steps


def search(
    choose: Callable[..., tuple[Tensor, Tensor, Tensor]],
    model: EncoderDecoder,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float,
    bos_id: int,
    eos_id: int,
    pad_id: int,
) -> tuple[Tensor, Tensor]:
    """Beam search with `choose` for `best_candidates`."""
    rows = torch.arange(len(src), device=src.device)
    mode = model.training
    model.eval()
    try:
        with torch.inference_mode():
            memory = model.encode(src)
            several, sources = (x.repeat_interleave(beam_size, dim=0) for x in (memory, src))
            tokens = src.new_full((len(src), beam_size, 1), bos_id)
            sums = memory.new_full((len(src), beam_size), -math.inf)
            sums[:, 0] = 0.0
            lengths, ended = torch.zeros_like(sums).long(), torch.zeros_like(sums).bool()
            while tokens.size(2) <= max_len and not ended.all():
                logits = model.decode(tokens.flatten(0, 1), several, sources)[:, -1]
                log_probs = logits.log_softmax(dim=-1).view(len(src), beam_size, -1)
                parents, newest, sums = choose(log_probs, sums, lengths, ended, length_penalty, pad_id)
                lengths = lengths[rows[:, None], parents]
                ended = ended[rows[:, None], parents]
                tokens = torch.cat([tokens[rows[:, None], parents], newest[..., None]], dim=2)
                lengths = lengths + (~ended).long()
                ended = ended | (newest == eos_id)
            scores = sequence_scores(sums, lengths, length_penalty)
            best = scores.argmax(dim=1)
    finally:
        model.train(mode)
    return tokens[rows, best], scores[rows, best]

"""Slips of lesson 7: the next token, greedy decoding, exact match, the key-value cache."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.mistakes.blocks import possible
from autograder.parts import sinusoidal_encoding


def next_tokens(logits: Tensor) -> dict[str, Tensor]:
    """Choices from the logits (batch, length, vocab_size) of all positions."""
    slips = {
        "the prediction at the first position is taken, not the one at the last": logits[:, 0].argmax(-1),
        "the prediction at the last position but one is taken": logits[:, -2].argmax(-1),
        "the least probable token is taken, or the one with the largest logit without its sign": logits[:, -1].argmin(
            -1
        ),
        "the predictions of all positions are returned, not the last one's": logits.argmax(-1),
        "the whole batch gets one token: `argmax` is not told the dimension": logits[:, -1].argmax(),
        "the last entry of the vocabulary is looked at, not the last position": logits[..., -1].argmax(-1),
        "the last dimension is kept": logits[:, -1].argmax(-1, keepdim=True),
        "the largest logit is returned, not its place": logits[:, -1].max(-1).values,
        "every row gets the prediction of the first": logits[:1, -1].argmax(-1).expand(len(logits)),
        "PAD, token 0, is never chosen": logits[:, -1, 1:].argmax(-1) + 1,
        "only 0 comes out, as where the decoder gets another memory than the one that is given": torch.zeros(
            len(logits), dtype=torch.long
        ),
    }
    right = logits[:, -1].argmax(-1)
    return {slip: value for slip, value in slips.items() if not torch.equal(value, right)}


def greedy_decode(
    script: Tensor, steps: int, max_len: int, bos_id: int, eos_id: int, pad_id: int, src_len: int = 99
) -> dict[str, Tensor]:
    """Outputs of a model that says `script` (batch, ≥ steps): rows that go on, or stop, where they should not.

    Args:
        steps: how many tokens the right answer writes after BOS, `max_len` at most.
        src_len: how long the sources are, padding included.
    """
    said = script[:, :steps]
    ended = (said == eos_id).cumsum(dim=1) > 0  # from a row's EOS on
    after = F.pad(ended, (1, -1))  # behind it
    begin = torch.full((len(script), 1), bos_id)
    first_end = int(ended.any(dim=0).nonzero()[0]) + 1 if ended.any() else steps
    right = torch.where(after, pad_id, said)
    first_row = int((~after[0]).sum())  # how much the first row writes
    slips = {
        "rows go on after their EOS": torch.cat([begin, said], dim=1),
        "rows never end, and go on to `max_len`": torch.cat(
            [begin, script[:, torch.arange(max_len).clamp(max=script.size(1) - 1)]], dim=1
        ),
        "a row that has ended is forgotten after one step of padding": _forgetful(
            script, begin, max_len, eos_id, pad_id
        ),
        "rows are filled with EOS instead of padding": torch.cat([begin, torch.where(after, eos_id, said)], dim=1),
        "only 0 comes out, as where the decoder gets another memory than what the encoder made of the source": F.pad(
            begin, (0, steps)
        ),
        "BOS is left out": right,
        "EOS is left out": torch.cat([begin, torch.where(ended, pad_id, said)], dim=1),
        "rows stop when they are as long as the source": torch.cat([begin, right[:, : src_len - 1]], dim=1),
        "rows get one token more than the source is long": torch.cat([begin, right[:, : src_len + 1]], dim=1),
        "rows get as many tokens as the source is long": torch.cat([begin, right[:, :src_len]], dim=1),
        "the first row that ends stops all of them": torch.cat([begin, right[:, :first_end]], dim=1),
        "the last token is missing: the loop stops one too early, or the end is cut off": torch.cat(
            [begin, right[:, :-1]], dim=1
        ),
        "all rows get the tokens of the first": torch.cat([begin, right[:1, :first_row].expand(len(script), -1)], 1),
    }
    expected = torch.cat([begin, right], dim=1)
    return {slip: value for slip, value in slips.items() if not torch.equal(value, expected)}


def _forgetful(script: Tensor, tokens: Tensor, max_len: int, eos_id: int, pad_id: int) -> Tensor:
    """What a loop writes behind `tokens` (batch, 1), BOS, that knows of the last token alone whether it was EOS.

    Off its script the model says BOS, as `parts.ScriptedModel` does.
    """
    begin, ended, strayed = tokens[:, 0], *torch.zeros(2, len(script), dtype=torch.bool)
    for step in range(max_len):
        said = script[:, min(step, script.size(1) - 1)]
        following = torch.where(ended, pad_id, torch.where(strayed, begin, said))
        ended, strayed = following == eos_id, strayed | (following != said)
        tokens = torch.cat([tokens, following[:, None]], dim=1)
        if ended.all():
            break
    return tokens


def _exact_match(predicted: Tensor, expected: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Fractions for predicted and expected tokens (batch, …), of which one may be wider."""
    narrow = min(predicted.size(1), expected.size(1))
    width = max(rows.size(1) for rows in (predicted, expected))
    one, two = (F.pad(tokens, (0, width - tokens.size(1)), value=pad_id) for tokens in (predicted, expected))
    same, cut = one == two, predicted[:, :narrow] == expected[:, :narrow]
    real = two != pad_id

    def mean(values: Tensor) -> Tensor:
        return values.float().mean()

    return {
        "tokens are counted, not whole rows": mean(same),
        "real tokens are counted, not whole rows": mean(same[real]),
        "what one of the two has beyond the width of the other is not looked at": mean(cut.all(1)),
        "only the prediction is padded, and it is cut where it runs on past the width of what is expected": mean(
            (one[:, : expected.size(1)] == expected).all(1)
        ),
        "only what is expected is padded, and it is cut where it is wider than the prediction": mean(
            (two[:, : predicted.size(1)] == predicted).all(1)
        ),
        "only the real tokens of what is expected are looked at, not what was written after them": mean(
            (same | ~real).all(1)
        ),
        "only the real tokens of what is predicted are looked at": mean((same | (one == pad_id)).all(1)),
        "columns are counted, not rows": mean(same.all(0)),
        "rows of different widths are never equal, as when the padding comes at the left": mean(
            (_left(predicted, width, pad_id) == _left(expected, width, pad_id)).all(1)
        ),
        "a single right token is enough": mean(same.any(1)),
        "the sums of the rows are compared, not their tokens": mean(one.sum(1) == two.sum(1)),
        "the tokens of a row may stand in any order": mean((one.sort(1).values == two.sort(1).values).all(1)),
        "the first token is not looked at": mean(same[:, 1:].all(1)),
        "all rows have to be right": mean(same.all()),
        "right rows are counted, not their fraction": same.all(1).sum().float(),
        "wrong rows are counted instead of right ones": 1 - mean(same.all(1)),
        "it is a percentage, not a fraction": 100 * mean(same.all(1)),
    }


def _left(tokens: Tensor, width: int, pad_id: int) -> Tensor:
    return F.pad(tokens, (width - tokens.size(1), 0), value=pad_id)


def exact_matches(
    pairs: Mapping[str, tuple[Tensor, float]], expected: Tensor, results: Mapping[str, Tensor]
) -> dict[str, dict[str, Tensor]]:
    """For each of the predictions the slip that gives all of the results, where just one does.

    Args:
        pairs: predicted tokens and their fraction, by what they are.
        results: what the answer says of each of them.
    """
    by_pair = {what: _exact_match(predicted, expected, 0) for what, (predicted, _) in pairs.items()}
    given = [results[what] for what in pairs]
    named = [
        slip
        for slip in next(iter(by_pair.values()))
        if torch.equal(torch.stack([values[slip] for values in by_pair.values()]), torch.stack(given))
    ]
    return {
        what: {slip: by_pair[what][slip] for slip in named if len(named) == 1 and by_pair[what][slip] != fraction}
        for what, (_, fraction) in pairs.items()
    }


def cached_attention(query: Tensor, keys: Tensor, values: Tensor) -> dict[str, Tensor]:
    """Outputs for the last query (…, 1, d_k) and all keys and values so far (…, length, d_k), the newest last."""

    def attend(keys: Tensor, values: Tensor, scale: float | None = None) -> Tensor:
        return F.scaled_dot_product_attention(query, keys, values, scale=scale)

    newest, past = slice(-1, None), slice(0, -1)
    slips = {
        "only the newest key is attended to": attend(keys[..., newest, :], values[..., newest, :]),
        "keys and values are not in the same order": attend(keys.roll(1, -2), values),
        "keys stand in the place of values": attend(keys, keys),
        "the scores are not divided by √d_k": attend(keys, values, scale=1.0),
    }
    if keys.size(-2) > 1:
        left_out = attend(keys[..., past, :], values[..., past, :])
        slips["the newest key is not attended to (left out, or hidden by a causal mask)"] = left_out
    return possible(slips, attend(keys, values))


def cache(kept: Tensor, others: Tensor) -> dict[str, Tensor]:
    """What may stand where `kept` (…, length, d_k), keys or values, should; `others` are the other ones of the two."""
    slips = {
        "keys and values are exchanged in the cache, or one of them stands for both": others,
        "the newest one is missing: the cache is the one that came": kept[..., :-1, :],
    }
    if kept.size(-2) > 1:
        slips["only the newest one is kept"] = kept[..., -1:, :]
        slips["the newest one stands first"] = kept.flip(-2)
    return slips


def newest_placed(embedded: Tensor) -> dict[str, Tensor]:
    """Where the last of the embedded tokens (batch, length, d_model) may be put, as (batch, 1, d_model)."""
    length, newest = embedded.size(1), embedded[:, -1:]
    encoding = sinusoidal_encoding(length + 2, embedded.size(2)).to(embedded)
    slips = {
        "the newest token is placed at position 0, whatever came before": newest + encoding[0],
        "the newest token is placed one position too far": newest + encoding[length],
        "the newest token is placed one position too early": newest + encoding[max(length - 2, 0)],
        "the newest token is not placed at all": newest,
        "it is the first token, not the newest": embedded[:, :1] + encoding[0],
        "the newest token is placed twice": newest + encoding[0] + encoding[length - 1],
    }
    return possible(slips, newest + encoding[length - 1])

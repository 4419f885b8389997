"""Exercise `greedy_decode`: its cases and its slips."""

import itertools
import random
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_7.shared import SCRIPT, SOURCES, require_model_kept, small_transformer, sources
from autograder.exercises.shared import device, sizes, some

Decode = Callable[..., Tensor]
ROOM = 9  # `max_len` where rows end by themselves
MAX_LENGTHS = (0, 1), (1, 1), (1, 3), (2, 2), (4, 3), (9, 3), (14, 4), (28, 2), (50, 1)  # with the number of rows


def token_cases(answer: Decode, *, seed: int = 0) -> None:
    """Rows end with an EOS of their own, for which there is room, whatever the special tokens, model and device."""
    for script, src, special in _ending_scripts(seed):
        models = [_scripted(script, special.get("bos_id", 1)) for _ in range(2)]
        expected = parts.greedy_decode(models[0], src, ROOM, **special)
        with check.case(said=script, src=src), check.unchanged(src=src):
            _require_written(answer(models[1], src, ROOM, **special), expected, special)
    model, src, special = _ending_model(seed)
    expected = parts.greedy_decode(model, src, ROOM, **special)
    with check.case(src=src):
        _require_written(answer(model, src, ROOM, **special), expected, special)
    if _comes_to_an_end(answer):
        device(seed, "greedy_decode(model, src, max_len=3)", answer, model, src, 3)


def _comes_to_an_end(answer: Decode) -> bool:
    """The loop ends where no row does: if not, that is told where lengths are checked."""
    script = torch.tensor([[5, 6]])
    try:
        answer(_scripted(script), torch.tensor([[3, 4]]), 3)
    except RuntimeError:
        return False
    return True


def _require_written(tokens: Tensor, expected: Tensor, special: dict[str, int]) -> None:
    """Tokens (batch, length) are those expected; columns of padding behind them do no harm."""
    name = f"greedy_decode({', '.join(['model, src, max_len=9', *(f'{key}={id}' for key, id in special.items())])})"
    check.dtype(name, tokens, torch.long)
    check.true(tokens.dim() == 2, "The tokens do not have two dimensions, (batch, length).")
    width, pad_id = expected.size(1), special.get("pad_id", 0)
    if tokens.size(1) > width and len(tokens) == len(expected):
        check.equal(f"{name}[:, :{width}]", tokens[:, :width], expected)
        padded = bool((tokens[:, width:] == pad_id).all())
        check.true(padded, f"After the ends there is something other than pad_id={pad_id}.")
        return
    check.equal(name, tokens, expected)


def words_written(name: str, tokens: Tensor) -> Tensor:
    """The columns (batch, words) of tokens (batch, length) in which there is more than BOS and padding."""
    (tokens,) = check.returns(name, [tokens], name)
    tokens = tokens if tokens.dim() > 1 else tokens.reshape(1, -1)
    return tokens[:, (tokens > 1).any(dim=0)] if tokens.dim() == 2 else tokens


def length_cases(answer: Decode, *, seed: int = 0) -> None:
    """`max_len` tokens follow BOS, none where it is 0, whether no row has ended by then or some have."""
    for index, (most, batch) in some(seed, enumerate(MAX_LENGTHS)):
        max_len = most - min(seed % 5, most // 3)
        generator = torch.Generator().manual_seed(31 * seed + index)
        script = 3 + torch.randint(6, (batch, max(max_len, 1)), generator=generator)
        src = sources(script, (8, 1, 3)[index % 3], 0, seed)
        name = f"greedy_decode(model, src, max_len={max_len})"
        with check.case(src=src):
            tokens = answer(_scripted(script), src, max_len)
            words = words_written(name, tokens)
            check.true(not (tokens == 2).any(), f"The model never says EOS, and `{name}` holds one.")
            check.shape(f"the words in `{name}`", words, batch=batch, words=max_len)
    for script, max_len in _half_ended_scripts(seed):
        src = sources(script, 5, 0, seed)
        expected = parts.greedy_decode(_scripted(script, 1), src, max_len)
        mistakes, name = _slips_at_the_limit(expected), f"greedy_decode(model, src, max_len={max_len})"
        with check.case(said=script, src=src):
            check.equal(name, answer(_scripted(script, 1), src, max_len), expected, mistakes=mistakes)


def mode_cases(answer: Decode, *, seed: int = 0) -> None:
    """Afterwards a model is as it was, in either mode, whether rows end by themselves, at `max_len` or at once."""
    script = torch.tensor(SCRIPT).roll(seed % 2, 0)
    for training, max_len in some(seed, itertools.product((True, False), (7, 2, 3, 5))):
        model = parts.ScriptedModel(script, vocab_size=9, begin=1).train(training)
        model.scale.requires_grad_(max_len > 2)
        with check.case(max_len=max_len):
            tokens = answer(model, torch.tensor(SOURCES), max_len)
            require_model_kept(model, training, tokens, script[:, :1])
            carries = isinstance(tokens, Tensor) and tokens.requires_grad
            check.true(not carries, "The tokens that come back carry gradients.")
            trained = {True: "frozen", False: "no longer frozen"}[max_len > 2]
            check.true(model.scale.requires_grad == (max_len > 2), f"Afterwards the model's parameters are {trained}.")
            check.true(model.dropout.p == 0.5, "Afterwards the model's dropout has a different rate.")
            with torch.no_grad():
                answer(model, torch.tensor(SOURCES), max_len)
                check.true(not torch.is_grad_enabled(), "Gradients are switched on for the caller.")
            check.true(model.encoded == 2, f"In two calls the encoder runs {model.encoded} times.")


def _scripted(script: Tensor, begin: int | None = None) -> parts.ScriptedModel:
    """A model that says the script in either mode."""
    model = parts.ScriptedModel(script, vocab_size=9, begin=begin).eval()
    model.dropout.p = 0.0
    return model


def _ending_scripts(seed: int) -> Iterator[tuple[Tensor, Tensor, dict[str, int]]]:
    """Scripts (batch, steps) of any ids below 9, in which every row has an EOS, with sources and special tokens."""
    generator = random.Random(seed)
    for index, size in enumerate(sizes(seed, 8, batch=(1, 4), steps=(1, 7))):
        batch, steps = size.values()
        bos_id, eos_id, pad_id = generator.sample(range(9), 3) if index % 3 else (1, 2, 0)
        pad_id = eos_id if index % 6 == 5 else pad_id
        words = [word for word in range(9) if word != eos_id]
        rows = [[generator.choice(words) for _ in range(steps)] for _ in range(batch)]
        for row in rows:
            row[generator.randrange(steps)] = eos_id
        script = torch.tensor(rows)
        special = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id} if index % 3 else {}
        yield script, sources(script, 4 + index % 4, pad_id, seed + index), special
    one, other = generator.sample(range(3, 9), 2)
    for row in ([one] * 6 + [other, 2], [one, other] * 3 + [one, 2]):  # what comes again and again is no end
        yield torch.tensor([row]), sources(torch.tensor([row]), 5, 0, seed), {}


def _half_ended_scripts(seed: int) -> Iterator[tuple[Tensor, int]]:
    """Scripts (batch, steps) and limits at which some rows have ended and others have not, the notebook's first."""
    yield torch.tensor([[6, 4, 2], [2, 7, 7]]), 2
    generator = random.Random(seed)
    for batch in (3, 4):
        max_len = generator.randint(3, 6)
        script = torch.tensor([[generator.randrange(3, 9) for _ in range(max_len + 2)] for _ in range(batch)])
        for row in range(batch - 1):  # the last never ends, the first only beyond the limit
            script[row, generator.randrange(max_len - 1) if row else max_len] = 2
        yield script, max_len


def _slips_at_the_limit(expected: Tensor) -> dict[str, Tensor]:
    """Outputs where rows that have ended and rows that have not, `expected` (batch, length), are treated as one."""
    is_ended = (expected == 2).any(dim=1)
    longest = int((expected[is_ended] == 2).int().argmax(dim=1).max()) + 1
    last = torch.arange(expected.size(1)) == expected.size(1) - 1
    cut_off = ~is_ended[:, None] & last
    return {
        "rows that `max_len` ends get an EOS in place of their last token": expected.masked_fill(cut_off, 2),
        "rows that `max_len` ends get padding in place of their last token": expected.masked_fill(cut_off, 0),
        "all rows are cut off where the last of those that have ended does": expected[:, :longest],
    }


def _ending_model(seed: int) -> tuple[parts.Transformer, Tensor, dict[str, int]]:
    """A model, sources of several lengths that matter to it as a whole, and an EOS that every row writes in time."""
    for attempt in itertools.count(seed + 4):  # ends at once for the seeds that the notebook uses
        src = data.tokens([2, 6, 5], vocab_size=9, seed=attempt)
        model = small_transformer(9, attempt, src)
        rows = parts.greedy_decode(model, src, ROOM - 1, eos_id=-1)[:, 2:].tolist()
        for eos_id in set.intersection(*map(set, rows)) - {0, 1}:
            written, of_less = (parts.greedy_decode(model, x, ROOM, eos_id=eos_id) for x in (src, src[:, :2]))
            if not torch.equal(written, of_less):
                return model, src, {"eos_id": eos_id}
    raise AssertionError("Some model ends.")


def slips(
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

    def behind(tokens: Tensor) -> Tensor:
        return torch.cat([begin, tokens], dim=1)

    slips = {
        "rows go on after their EOS": behind(said),
        "rows never end, and go on to `max_len`": behind(
            script[:, torch.arange(max_len).clamp(max=script.size(1) - 1)]
        ),
        "a row that has ended is forgotten after one step of padding": _forgetful(
            script, begin, max_len, eos_id, pad_id
        ),
        "rows are filled with EOS instead of padding": behind(torch.where(after, eos_id, said)),
        "only 0 follows BOS: padding, or what the model says of another memory than what `encode` gave": F.pad(
            begin, (0, steps)
        ),
        "BOS is left out": right,
        "EOS is left out": behind(torch.where(ended, pad_id, said)),
        "rows stop when they are as long as the source": behind(right[:, : src_len - 1]),
        "rows get one token more than the source is long": behind(right[:, : src_len + 1]),
        "rows get as many tokens as the source is long": behind(right[:, :src_len]),
        "one row that ends stops all of them": behind(right[:, :first_end]),
        "the last token is missing: the loop stops one too early, or the end is cut off": behind(right[:, :-1]),
        "all rows get the tokens of the first": behind(right[:1, :first_row].expand(len(script), -1)),
    }
    expected = behind(right)
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

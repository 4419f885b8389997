"""Exercise `generate`: its cases and its slips."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.shared import few, sizes

Generate = Callable[..., Tensor]
GREEDY = 1e-6  # a temperature at which chance plays no part
ROWS = 10_000  # texts that are written at once: a share of ⅓ is then right to 0.005
FAR = 0.025  # a share, from what it should be: beyond any chance


def cases(answer: Generate, *, seed: int = 0) -> None:
    """With and without a cache, for texts and models of any size: what the model itself would say next."""
    ranges = {"batch": (1, 3), "seq_len": (1, 6), "max_new": (1, 12), "vocab_size": (2, 20)}
    for index, size in enumerate(sizes(seed, 3, **ranges)):
        batch, seq_len, max_new, vocab_size = size.values()
        generator = torch.Generator().manual_seed(31 * seed + index)
        tokens = torch.randint(vocab_size, (batch, seq_len), generator=generator)
        expected = _written(tokens, max_new, vocab_size, seed + index)
        for use_cache in (True, False):
            model = parts.NextByHistory(vocab_size, scale=50.0, seed=seed + index)
            with check.case(tokens=tokens, max_new=max_new, use_cache=use_cache), check.unchanged(tokens=tokens):
                written(answer, model, tokens, max_new, expected, use_cache)
    real = data.randomized(parts.GPT(9, 8, 2, 4, 2, 6), seed=seed + 1)
    tokens = torch.randint(9, (2, 3), generator=torch.Generator().manual_seed(seed))
    expected = parts.generate(real, tokens, 5, use_cache=False, temperature=GREEDY)
    for use_cache in (True, False):
        output = answer(real, tokens, 5, use_cache=use_cache, temperature=GREEDY)
        check.equal(f"what a GPT writes with use_cache={use_cache}", output, expected)
    _a_long_text_is_read_whole(answer, seed)
    check.equal("generate(model, tokens, 0)", answer(real, tokens, 0), tokens)
    check.true(not output.requires_grad, "The tokens that come back carry gradients.")


def _a_long_text_is_read_whole(answer: Generate, seed: int) -> None:
    """Nothing of a text is cut off, however long it is."""
    for use_cache, longest in ((True, 40), (False, 300)):  # with a cache, an answer may give one token at a time
        length = longest + few(seed) % 10
        tokens = torch.randint(9, (1, length), generator=torch.Generator().manual_seed(seed))
        expected = _written(tokens, 2, 9, seed)
        model = parts.NextByHistory(9, scale=50.0, seed=seed)
        with check.case(tokens=tokens, max_new=2, use_cache=use_cache):
            output = answer(model, tokens, 2, use_cache=use_cache, temperature=GREEDY)
            lengths = [each.size(-1) for each in model.given]
            read = sum(lengths) if use_cache else max(lengths, default=0)
            verdict = f"Of a text of {length + 1} tokens, the model is given {read}."
            check.true(read >= length + 1, verdict, "It may be of any length: nothing of it has to be cut off.")
            check.equal(f"generate(model, tokens, 2, use_cache={use_cache})", output, expected)


def chance_cases(answer: Generate, *, seed: int = 0) -> None:
    """Each text of two tokens comes as often as the model says, with a cache and without, whatever the options."""
    same: list[Tensor] = []
    for use_cache in (True, False):
        for temperature in (None, 0.5 + few(seed) / 97, 2.0):
            options: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
            model = parts.NextByHistory(8, seed=seed)
            with check.case(use_cache=use_cache, **options):
                texts = answer(model, torch.zeros(ROWS, 1, dtype=torch.long), 2, use_cache=use_cache, **options)
                check.shape("generate(model, tokens, 2)", texts, batch=ROWS, length=3)
                _are_near(_shares(texts), _chances(seed, **options), _slips_of_chance(seed, use_cache, **options))
        model, generator = parts.NextByHistory(8, seed=seed), torch.Generator().manual_seed(seed)
        same.append(answer(model, torch.zeros(5, 1, dtype=torch.long), 9, use_cache=use_cache, generator=generator))
    verdict = "With generators of the same seed, another text is written with the cache than without."
    check.true(torch.equal(*same), verdict, "Draw once for each new token, from the logits of the last position alone.")


def _shares(texts: Tensor) -> Tensor:
    """The share of each pair of new tokens, (64,)."""
    return torch.bincount(8 * texts[:, 1] + texts[:, 2], minlength=64) / len(texts)


def _chances(seed: int, *, twice: bool = False, other: bool = False, **options: Any) -> Tensor:
    """The probability of each pair of new tokens, (64,).

    Args:
        twice: the probabilities are taken for logits.
        other: the second token follows one that was drawn anew, not the first.
    """
    model = parts.NextByHistory(8, seed=seed)
    starts = torch.tensor([[0, token] for token in range(8)])
    first, second = model(starts)[:1, 0], model(starts)[:, 1]
    if twice:
        first, second = first.softmax(-1), second.softmax(-1)
    first, second = parts.kept_chances(first, **options), parts.kept_chances(second, **options)
    second = (first @ second).expand(8, 8) if other else second
    return (first.T * second).flatten()


def _slips_of_chance(seed: int, use_cache: bool, temperature: float = 1.0) -> dict[str, Tensor]:
    """What some slips would give."""
    slips = {
        "probabilities are handed to `sample`, which takes logits": _chances(seed, twice=True, temperature=temperature),
        "the logits are divided by the temperature before `sample` does it again": _chances(
            seed, temperature=temperature**2
        ),
    }
    if use_cache:
        other = _chances(seed, other=True, temperature=temperature)
        slips |= {"the model is given another token than the one that was written: two are drawn": other}
    return slips


def _are_near(found: Tensor, expected: Tensor, slips: dict[str, Tensor]) -> None:
    """The shares are those expected; where they are what one slip alone gives, say which."""
    worst = int((found - expected).abs().argmax())
    explained = [slip for slip, value in slips.items() if (found - value).abs().max() < FAR]
    verdict = (
        f"After 0, the text {worst // 8}, {worst % 8} has a probability of {expected[worst]:.1%}, "
        f"and {found[worst]:.1%} of {ROWS:,} rows are it."
    )
    slip = f"These are the shares you get when {explained[0]}." if len(explained) == 1 else None
    check.true((found - expected).abs().max() < FAR, verdict, slip)
    missing = int(((found == 0) & (expected > 0.005)).sum())
    check.true(not missing, f"After 0, {missing} texts of two tokens never come that have a probability of over 0.5 %.")


def option_cases(answer: Generate, *, seed: int = 0) -> None:
    """`temperature`, `top_k`, `top_p` and `generator` reach `sample`, with a cache and without."""
    check.defaults("generate", answer, use_cache=True)
    tokens = torch.zeros(3, 2, dtype=torch.long)
    expected = _written(tokens, 8, 9, seed, scale=0.5)
    for use_cache in (True, False):
        for options in ({"top_k": 1}, {"top_p": 1e-3}, {"temperature": GREEDY}):
            model = parts.NextByHistory(9, scale=0.5, seed=seed)
            with check.case(use_cache=use_cache, **options):
                written(answer, model, tokens, 8, expected, use_cache, **options)
        drawn = []
        for number in (1 + few(seed), 1 + few(seed), 2 + few(seed)):
            model = parts.NextByHistory(9, scale=0.5, seed=seed)
            generator = torch.Generator().manual_seed(number)
            drawn.append(answer(model, tokens, 12, use_cache=use_cache, generator=generator))
        check.true(torch.equal(drawn[0], drawn[1]), "Two generators with the same seed write different texts.")
        check.true(not torch.equal(drawn[0], drawn[2]), "Generators with different seeds write the same text.")
        again = parts.NextByHistory(9, scale=0.5, seed=seed)
        one, other = (answer(again, tokens, 12, use_cache=use_cache, generator=generator).clone() for _ in range(2))
        slip = "Hand the generator on to `sample` as it is: one that is made anew from its seed begins again."
        check.true(not torch.equal(one, other), "Two calls with one generator write the same text.", slip)
        texts = answer(model, tokens.repeat(20, 1), 40, use_cache=use_cache, generator=generator)
        check.shape("generate(model, tokens, 40)", texts, batch=60, length=42)
        greedy = (model(texts)[:, 1:-1].argmax(-1) == texts[:, 2:]).all(dim=0)
        place = int(greedy.long().argmax()) + 1
        verdict = f"New token {place} is the most probable one in all of {len(texts)} texts; chance should decide."
        check.true(not greedy.any(), verdict)


def written(
    answer: Generate,
    model: parts.NextByHistory,
    tokens: Tensor,
    max_new: int,
    expected: Tensor,
    use_cache: bool,
    mistakes: dict[str, Tensor] | None = None,
    **options: Any,
) -> None:
    """The answer writes what is expected, and asks the model for no more than it has to."""
    options = options or {"temperature": GREEDY}
    (batch, seq_len), given = tokens.shape, tokens.clone()
    with check.unchanged(tokens=tokens):
        output = answer(model, tokens, max_new, use_cache=use_cache, **options)
    lengths = [each.size(-1) for each in model.given]
    call = f"generate(model, tokens, {max_new}, use_cache={use_cache})"
    check.dtype(call, output, torch.long)
    told = {
        "the tokens that were given are left out, or count as new ones": (batch, max_new),
        "one token too few comes back": (batch, seq_len + max_new - 1),
        "one token too many comes back": (batch, seq_len + max_new + 1),
    }
    check.shape(call, output, mistakes=told, batch=batch, length=seq_len + max_new)
    again = answer(model, given, max_new, use_cache=use_cache, **options)
    if not torch.equal(output, again):
        seeded = []
        for _ in range(2):
            torch.manual_seed(0)
            seeded.append(answer(model, given, max_new, use_cache=use_cache, **options).tolist())
        slip = "An earlier call has left something behind."
        if seeded[0] == seeded[1]:
            slip = "Each `sample` has to be handed them: `**options`."
        verdict = f"`{call}` writes something else when it is asked again, though the options leave nothing to chance."
        check.true(False, verdict, slip)
    check.equal(call, output, expected, mistakes=mistakes)
    check.true(not model.gradients, "The model runs with gradients enabled.")
    if use_cache:
        least = seq_len + max_new - 1
        verdict = f"With the cache, the model is given {sum(lengths)} tokens in all, where {least} are enough."
        slip = "With an empty list the model begins a cache, which it returns; what it was given stands there."
        check.true(sum(lengths) == least, verdict, f"{slip} So each token is new once.")
    else:
        count = len(lengths)
        check.true(count == max_new, f"The model runs {count} times to write {max_new} tokens.")
        check.true(not any(model.had_cache), f"With use_cache={use_cache} the model is given a cache.")


def _written(tokens: Tensor, max_new: int, vocab_size: int, seed: int, scale: float = 50.0) -> Tensor:
    model = parts.NextByHistory(vocab_size, scale=scale, seed=seed)
    return parts.generate(model, tokens, max_new, use_cache=False, temperature=GREEDY)


def slips(tokens: Tensor, max_new: int, vocab_size: int, *, use_cache: bool, scale: float = 50.0) -> dict[str, Tensor]:
    """What `parts.NextByHistory` would write after tokens (batch, seq_len) in loops that go wrong."""

    def last(logits: Tensor) -> Tensor:
        return logits[:, -1].argmax(-1)

    def loop(
        given: Callable[[Tensor], Tensor], choose: Callable[[Tensor], Tensor] = last, caches: int | None = None
    ) -> Tensor:
        """What is given of the text so far, what is made of its logits, and how many steps hand a cache on."""
        model, text = parts.NextByHistory(vocab_size, scale=scale), tokens
        cache: Any = []
        for step in range(max_new):
            if caches is None:
                logits = model(given(text))
            else:
                logits, longer = model(given(text), cache)
                cache = longer if step < caches else cache
            text = torch.cat([text, choose(logits)[:, None]], dim=1)
        return text

    def all_of(text: Tensor) -> Tensor:
        return text

    def newest(text: Tensor) -> Tensor:
        return text[:, -1:]

    def new(text: Tensor) -> Tensor:
        return text if text.size(1) == tokens.size(1) else newest(text)

    found = {
        "the prediction at the first position is taken, not the one at the last": loop(
            all_of, lambda logits: logits[:, 0].argmax(-1)
        ),
        "every step asks for what follows the tokens that were given": loop(lambda text: text[:, : tokens.size(1)]),
        "only the newest token is given to the model, and nothing is remembered": loop(newest),
        "the least probable token is taken": loop(all_of, lambda logits: logits[:, -1].argmin(-1)),
    }
    if use_cache:
        found |= {
            "all tokens are given again, though the cache holds them": loop(all_of, caches=max_new),
            "the cache of the first step is used again and again": loop(new, caches=1),
            "the cache is not handed on: the newest token stands alone": loop(new),
            "of the tokens that were given, only the last goes into the cache": loop(newest, caches=max_new),
        }
    right = loop(all_of)
    return {slip: value for slip, value in found.items() if not torch.equal(value, right)}

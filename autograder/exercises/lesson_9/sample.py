"""Exercise `sample`: its cases and its slips."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import few, sizes

Sample = Callable[..., Tensor]
DRAWS = 20_000  # a share of ½ is then right to 0.004
FAR = 0.06  # a share, from what it should be: beyond any chance


def tenths(answer: Sample, chances: Sequence[float], **options: Any) -> Tensor:
    """How many of ten ids are each token, rounded, where logits are logarithms of these chances and many are drawn."""
    return (10 * shares(answer, torch.tensor(chances).log(), **options)).round()


def shares(answer: Sample, logits: Tensor, **options: Any) -> Tensor:
    """The share of each token (vocab_size,) among ids drawn again and again from the same logits (vocab_size,)."""
    return shares_of_kinds(answer, logits[None], **options)[0]


def shares_of_kinds(answer: Sample, logits: Tensor, **options: Any) -> Tensor:
    """The same for rows of several kinds in turn, in one call: (kinds, vocab_size), of each as many."""
    kinds, vocab_size = logits.shape
    given = logits.repeat(DRAWS // kinds, 1)
    call = f"sample({', '.join(['logits', *(f'{key}={value}' for key, value in options.items())])})"
    with check.unchanged(logits=given):
        ids = answer(given, **options)
    check.shape(call, ids, batch=DRAWS)
    check.dtype(call, ids, torch.long)
    inside = bool(((ids >= 0) & (ids < vocab_size)).all())
    check.true(inside, f"`{call}` holds ids that there are no logits for.")
    return (
        torch.stack([torch.bincount(ids[kind::kinds], minlength=vocab_size) for kind in range(kinds)]) * kinds / DRAWS
    )


def draw_cases(answer: Sample, *, seed: int = 0) -> None:
    """Each token comes as often as its probability says, at any temperature; each row is drawn from its own logits."""
    check.defaults("sample", answer, temperature=1.0, top_k=None, top_p=None, generator=None)
    for index, size in enumerate(sizes(seed, 3, vocab_size=(2, 12))):
        logits = 2 * torch.randn(size["vocab_size"], generator=torch.Generator().manual_seed(31 * seed + index))
        for temperature in (1.0, 0.4, 2.0 + few(seed) / 97):
            expected = parts.kept_chances(logits[None], temperature)[0]
            with check.case(vocab_size=size["vocab_size"], temperature=round(temperature, 2)):
                _are_near(shares(answer, logits, temperature=temperature), expected)
    _are_near(shares(answer, 0.05 * logits, temperature=0.05), logits.softmax(-1))
    found = shares(answer, torch.zeros(40))
    check.true((found > 0).all(), f"Of 40 equally likely tokens, {int((found == 0).sum())} never come.")
    rows = 50.0 * torch.eye(5).roll(seed % 5, 1)
    name = "sample(logits), where one token of each row is nearly certain"
    surest = rows.argmax(-1)
    check.equal(name, answer(rows), surest)
    close = torch.tensor([[1.0, 1.2, 0.8], [0.5, 0.1, 0.4]])
    name = "sample(logits, temperature=0.001)"
    surest = close.argmax(-1)
    check.equal(name, answer(close, temperature=1e-3), surest)


def _are_near(found: Tensor, expected: Tensor) -> None:
    distance = (found - expected).abs()
    worst = int(distance.argmax())
    verdict = (
        f"Token {worst} has a probability of {expected[worst]:.0%}, and {found[worst]:.0%} of {DRAWS} ids are this one."
    )
    check.true(distance[worst] < FAR, verdict)


def cut_cases(answer: Sample, *, seed: int = 0) -> None:
    """Nothing that was cut off ever comes, all that was kept does, and as often as it should."""
    for index, size in enumerate(sizes(seed, 4, vocab_size=(3, 9), kept=(1, 9), percent=(30, 95))):
        vocab_size, kept, percent = size.values()
        generator = torch.Generator().manual_seed(31 * seed + index)
        logits = 0.7 * torch.randperm(vocab_size, generator=generator)  # no two alike
        top_k, top_p = min(kept, vocab_size), percent / 100
        for options in ({"top_k": top_k}, {"top_p": top_p}, {"top_k": top_k, "top_p": top_p, "temperature": 1.5}):
            expected = parts.kept_chances(logits[None], **options)[0]
            if _is_on_the_edge(logits, **options):
                continue
            with check.case(logits=logits, **options):
                found = shares(answer, logits, **options)
                _hold(found, expected)
                _are_near(found, expected)
    flat = torch.tensor([0.2, 0.1, *[0.07] * 10]).roll(seed % 5).log()  # most of it is cut off
    _are_near(shares(answer, flat, top_k=2), parts.kept_chances(flat[None], top_k=2)[0])
    for options in ({"top_k": 2}, {"top_p": 0.25}):
        _are_cut_wherever_they_lie(answer, flat, **options)
    nearly = torch.arange(6) / 10
    for options in ({"top_k": 1}, {"top_p": 0.01}):
        for _ in range(8):
            ids = answer(nearly[None], **options)
            check.shape("sample(logits)", ids, batch=1)
            verdict = "In a single row, something else comes than what was to be kept."
            check.true(bool(ids == 5), verdict)
    _each_row_is_cut_by_itself(answer, seed)
    equal = torch.zeros(2 + 2 * few(seed % 3 + 1))
    for top_p in (0.3, 0.6, 0.9):
        _keeps_of_equals(answer, equal, top_p)
    _keeps_of_equals(answer, torch.zeros(4), 0.5)  # which two of them reach, and rounding has no say
    for tied in ([2.0, 1.0, 1.0, 0.0], [1.0] * 4):
        _keeps_where_they_tie(answer, torch.tensor(tied).roll(seed % 4), 2)


def _are_cut_wherever_they_lie(answer: Sample, logits: Tensor, **options: Any) -> None:
    """Only differences between logits count: all of them may be far below 0."""
    low = logits - 80.0  # of which exp still is a number
    came, expected = shares(answer, low, **options) > 0, parts.kept_chances(logits[None], **options)[0] > 0
    slip = "A constant taken off all logits changes no probability: what is cut off needs −inf, or the probability 0."
    with check.case(logits=low, **options):
        verdict = "Where 80 is taken off all logits, other tokens come than were to be kept."
        check.true(torch.equal(came, expected), verdict, slip)


def _keeps_where_they_tie(answer: Sample, logits: Tensor, top_k: int) -> None:
    """Of tokens that tie for the last place, as many stay as there is room for, or all of them."""
    least = logits.sort(descending=True).values[top_k - 1]
    came = shares(answer, logits, top_k=top_k) > 0
    count = int(came.sum())
    with check.case(logits=logits, top_k=top_k):
        verdict = f"Where tokens tie for the last place at top_k={top_k}, {count} of {len(logits)} are kept."
        slip = f"There is room for {top_k}; all that tie for the last place may stay, and those above it have to."
        check.true(count >= top_k and bool(came[logits > least].all()), verdict, slip)
        check.true(not came[logits < least].any(), "A token comes that is less probable than those that tie.")


def _each_row_is_cut_by_itself(answer: Sample, seed: int) -> None:
    """A row that is sure and one that is not, in one call; of an answer without chance another check says more."""
    if torch.equal(*(answer(torch.zeros(200, 7)) for _ in range(2))):
        return
    kinds = torch.tensor([[0.9, 0.05, 0.03, 0.02], [0.28, 0.26, 0.24, 0.22]]).roll(seed % 4, 1).log()
    both: tuple[dict[str, Any], ...] = {"top_p": 0.7}, {"top_k": 3, "top_p": 0.6}
    for options in both:
        expected = parts.kept_chances(kinds, **options) > 0
        alone = torch.stack([answer(kinds, **options) for _ in range(99)])  # in batches of two
        for came in (shares_of_kinds(answer, kinds, **options) > 0, F.one_hot(alone, 4).any(dim=0)):
            counts, wanted = (each.sum(-1).tolist() for each in (came, expected))
            verdict = (
                f"In a batch of a row that is sure and one that is not, {counts[0]} and {counts[1]} different tokens "
                f"come at {options}, where {wanted[0]} and {wanted[1]} should be left."
            )
            slip = "Let each row be cut by its own probabilities, whatever stands in the others."
            check.true(torch.equal(came, expected), verdict, slip)


def _keeps_of_equals(answer: Sample, equal: Tensor, top_p: float) -> None:
    """Of equally likely tokens, as few are kept as reach p."""
    wanted = int((torch.arange(1, len(equal) + 1) / len(equal) < top_p).sum()) + 1
    found = shares(answer, equal, top_p=top_p)
    verdict = f"Of {len(equal)} equally likely tokens, {int((found > 0).sum())} are kept at top_p={top_p}."
    slip = f"{wanted} of them reach {top_p}: the smallest set is wanted, and whichever of them are in it is free."
    check.true(int((found > 0).sum()) == wanted, verdict, slip)


def _is_on_the_edge(logits: Tensor, top_p: float | None = None, **options: Any) -> bool:
    """Whether rounding decides if one token more is needed to reach p."""
    if top_p is None:
        return False
    total = parts.kept_chances(logits[None], **options)[0].sort(descending=True).values.cumsum(0)
    return bool((total - top_p).abs().min() < 1e-3)


def _hold(found: Tensor, expected: Tensor) -> None:
    strange, missing = (found > 0) & (expected == 0), (found == 0) & (expected > 0.01)
    kept = int((expected > 0).sum())
    verdict = f"{int((found > 0).sum())} different tokens come where {kept} should be left."
    check.true(not strange.any() and not missing.any(), verdict)


def generator_cases(answer: Sample, *, seed: int = 0) -> None:
    """All chance comes from the generator: the same seed, the same ids, whatever else has been drawn meanwhile."""
    logits = torch.zeros(200, 7)
    number, nearly = 1 + few(seed), torch.arange(7).expand(200, 7) / 10  # no two alike
    _is_drawn_from_the_generator(answer, logits, number)
    for options in ({"top_k": 5}, {"top_p": 0.5}, {"top_k": 5, "top_p": 0.5, "temperature": 2.0}):
        _is_drawn_from_the_generator(answer, nearly, number, **options)
    drawn = _is_drawn_from_the_generator(answer, logits, number + 1)
    same = torch.equal(drawn, answer(logits, generator=torch.Generator().manual_seed(number + 2)))
    check.true(not same, "Generators with different seeds give the same ids.")
    generator = torch.Generator().manual_seed(number)
    first, second = (answer(logits, generator=generator).clone() for _ in range(2))
    check.true(not torch.equal(first, second), "Two calls with one generator give the same ids.")
    check.true(not torch.equal(answer(logits), answer(logits)), "Two calls without a generator give the same ids.")
    check.leaves_alone("sample(logits)", answer, {"logits": logits})
    check.true(
        not torch.equal(first, first[:1].expand_as(first)),
        "All rows get the same id, though all tokens are equally likely.",
    )


def _is_drawn_from_the_generator(answer: Sample, logits: Tensor, number: int, **options: Any) -> Tensor:
    """Ids that generators seeded with `number` give, which are the same, whatever has been drawn meanwhile."""
    drawn: list[Tensor] = []
    for _ in range(2):
        drawn.append(answer(logits, generator=torch.Generator().manual_seed(number), **options).clone())
        answer(logits, **options)  # from everybody's
    cut = "".join(f", {name}={value}" for name, value in options.items())
    verdict = f"Two generators with the same seed give different ids{cut and ' at' + cut[1:]}."
    slip = "Whatever draws has to be given it, for example `torch.multinomial(…, generator=generator)`."
    check.true(torch.equal(*drawn), verdict, slip)
    return drawn[0]


def draw_slips(chances: Sequence[float], temperature: float) -> dict[str, Tensor]:
    """How many of ten ids would be each token, for logits that are logarithms of these chances."""
    logits = torch.tensor(chances).log()
    best, right = F.one_hot(logits.argmax(), len(logits)).float(), (logits / temperature).softmax(-1)
    slips = {
        "every row gets the same id, as where the most probable one is always taken": best,
        "all tokens are drawn alike, as when the logits are not used or the softmax is over the rows": (
            torch.full_like(best, 1 / len(best))
        ),
        "`temperature` changes nothing: it is not used, or divides the probabilities": logits.softmax(-1),
        "the logits are multiplied by the temperature instead of divided": (temperature * logits).softmax(-1),
        "a softmax is taken twice": right.softmax(-1),
        "the least probable tokens come most often": (-logits / temperature).softmax(-1),
        "places among the sorted tokens are returned instead of their ids": right.sort(descending=True).values,
    }
    return _tenths(slips, right)


def cut_slips(chances: Sequence[float], top_k: int | None, top_p: float | None) -> dict[str, Tensor]:
    """How many of ten ids would be each token, for logits that are logarithms of these chances, none two alike."""
    logits = torch.tensor(chances).log()
    probabilities = logits.softmax(-1)
    ordered, order = probabilities.sort(descending=True)

    def kept(mask: Tensor, values: Tensor = ordered) -> Tensor:
        left = torch.where(mask, values, 0.0)
        return torch.zeros_like(left).scatter(0, order, left / left.sum())

    places, total, ones = torch.arange(len(ordered)), ordered.cumsum(0), torch.ones_like(ordered)
    within_k, within_p = places < (top_k or 0), total - ordered < (top_p or 0.0)
    from_below, before = ordered.flip(0).cumsum(0).flip(0), probabilities.cumsum(0) - probabilities
    slips: dict[str, Tensor] = {}
    if top_k is not None and top_p is not None:
        slips |= {
            "`top_k` is not used": kept(within_p),
            "`top_p` is not used where `top_k` is given, as behind `elif`": kept(within_k),
            "`top_p` is measured by all probabilities, not by what `top_k` has left": kept(within_k & within_p),
        }
    elif top_k is not None:
        slips |= {
            "`top_k` is not used": probabilities,
            "one token too many is kept": kept(places <= top_k),
            "one token too few is kept": kept(places < max(top_k - 1, 1)),
            "the least probable tokens are kept": kept(places >= len(ordered) - top_k),
            "the first `top_k` ids are kept, whatever their probability": probabilities * within_k,
            "the kept tokens are drawn alike": kept(within_k, ones),
            "places among the sorted tokens are returned instead of their ids": ordered * within_k,
            "what is cut off gets the logit 0 instead of −inf": (logits * (kept(within_k) > 0)).softmax(-1),
        }
    elif top_p is not None:
        slips |= {
            "`top_p` is not used": probabilities,
            "the token with which the sum reaches p is left out": kept((total <= top_p) | (places == 0)),
            "one token more is kept than p needs": kept(places <= (total < top_p).sum() + 1),
            "the probabilities are added up from the smallest on": kept(from_below <= top_p),
            "the sum of a token and of all less probable ones has to reach p": kept(from_below >= top_p),
            "they are added up in the order of their ids, not sorted": torch.where(before < top_p, probabilities, 0.0),
            "tokens are kept whose own probability reaches p, or the most probable one": kept(
                (ordered >= top_p) | (places == 0)
            ),
            "the kept tokens are drawn alike": kept(within_p, ones),
            "places among the sorted tokens are returned instead of their ids": ordered * within_p,
        }
    options: dict[str, Any] = {"top_k": top_k, "top_p": top_p}
    return _tenths(slips, parts.kept_chances(logits[None], **options)[0])


def _tenths(slips: dict[str, Tensor], right: Tensor) -> dict[str, Tensor]:
    """Those that show, in tenths, and whose rounding chance does not decide."""
    rounded = {slip: 10 * value / value.sum() for slip, value in slips.items()}
    return {
        slip: value.round()
        for slip, value in rounded.items()
        if not torch.equal(value.round(), (10 * right).round()) and ((value - value.floor() - 0.5).abs() > 0.1).all()
    }

"""Exercise `sequence_scores`: its cases and its slips."""

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_8.shared import PENALTIES, Answer
from autograder.exercises.shared import DTYPES, device, possible, sizes, tensors


def cases(answer: Answer, *, seed: int = 0) -> None:
    """Scores of any shape, length and penalty."""
    for index, size in enumerate(sizes(seed, 4, batch=(1, 4), beam=(1, 5))):
        shape = (size["batch"], size["beam"], 7)[: 1 + index % 3]
        (drawn,) = tensors(shape, seed=seed + index, dtype=DTYPES[index % 2])
        totals, lengths = -5 * drawn.abs(), (30 * drawn.abs()).long() + 1
        for penalty in PENALTIES:
            expected = parts.sequence_scores(totals, lengths, penalty)
            with check.case(lengths=lengths, length_penalty=penalty), check.unchanged(totals=totals, lengths=lengths):
                told = slips(totals, lengths, penalty)
                name = "sequence_scores(totals, lengths, length_penalty)"
                check.close(name, answer(totals, lengths, penalty), expected, mistakes=told)
    expected = parts.sequence_scores(totals, lengths)
    check.close("sequence_scores(totals, lengths)", answer(totals, lengths), expected)
    none = torch.tensor([-1.0, -torch.inf, -2.0]), torch.tensor([3, 0, 4])  # as in a beam of which one place is empty
    with check.case(totals=none[0], lengths=none[1]):
        check.close("sequence_scores(totals, lengths)", answer(*none), parts.sequence_scores(*none))
    device(seed, "sequence_scores(totals, lengths)", answer, totals, lengths)


def slips(totals: Tensor, lengths: Tensor, length_penalty: float) -> dict[str, Tensor]:
    """Scores that sequences may get from their log-probabilities (batch, …) and lengths."""
    share = (5 + lengths) / 6
    whole = (totals / share) ** length_penalty  # which a negative number may not have
    slips = {
        "nothing is divided by": totals.clone(),
        "the score is the mean log-probability of a token": totals / lengths,
        "the length is not added to 5": totals / (lengths / 6) ** length_penalty,
        "the base is not divided by 6": totals / (5 + lengths) ** length_penalty,
        "it is multiplied by the penalty, not divided": totals * share**length_penalty,
        "α multiplies the base instead of being its exponent": totals / (share * length_penalty),
        "α is fixed at 0.6": totals / share**0.6,
        "α is left out": totals / share,
        "6 + length stands for 5 + length, as where BOS counts as well": totals / ((6 + lengths) / 6) ** length_penalty,
        "the penalty is subtracted, not divided by": totals - share**length_penalty,
        "5 + length / 6 stands for (5 + length) / 6": totals / (5 + lengths / 6) ** length_penalty,
        "the length itself has the exponent α, without 5 and 6": totals / lengths**length_penalty,
        "the quotient as a whole has the exponent α": None if whole.isnan().all() else whole,
        "6 alone has the exponent α, and it is divided by once more: the base needs parentheses": (
            totals / (5 + lengths) / 6**length_penalty
        ),
        "the sign is wrong": -totals / share**length_penalty,
        "the power comes before the division by 6": totals / ((5 + lengths) ** length_penalty / 6),
        "it is divided by 6 as well as by (5 + length)^α": totals / (5 + lengths) ** length_penalty / 6,
        "4 + length stands for 5 + length, as where one is taken off the length": totals
        / ((4 + lengths) / 6) ** length_penalty,
        "5 and 6 are exchanged": totals / ((6 + lengths) / 5) ** length_penalty,
        "`//` stands in the place of `/`": totals / ((5 + lengths) // 6) ** length_penalty,
        "probabilities are scored, not their logarithms": totals.exp() / share**length_penalty,
    }
    return possible(slips, totals / share**length_penalty)

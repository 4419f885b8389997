"""The toy data is what it says."""

import datetime
import random

import make_dates
import pytest
import torch

from autograder import data
from autograder.data import BOS, EOS, PAD


def test_data_depends_on_the_seed_alone() -> None:
    """The same seed gives the same numbers under any global state, which stays as it is; another seed gives others."""
    torch.manual_seed(1)
    first, state = data.normal((3, 4), seed=7), torch.get_rng_state()
    torch.manual_seed(2)
    assert torch.equal(data.normal((3, 4), seed=7), first)
    assert not torch.equal(data.normal((3, 4), seed=8), first)
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)
    assert data.normal((3,), dtype=torch.float64).dtype == torch.float64
    assert [x.shape for x in data.normal((2,), (3,))] == [(2,), (3,)]


def test_tokens_are_words_up_to_their_length_and_padding_behind() -> None:
    """No word is PAD, BOS, EOS or the pad id, and every row is padded behind its length."""
    tokens = data.tokens([4, 2, 6], vocab_size=9, pad_id=5, seed=3)
    assert tokens.shape == (3, 6) and tokens.dtype == torch.long
    for row, length in zip(tokens, (4, 2, 6), strict=True):
        assert all(word in (3, 4, 6, 7, 8) for word in row[:length].tolist())
        assert (row[length:] == 5).all()


def test_targets_begin_with_bos_and_end_with_eos() -> None:
    """Between the two stand words, behind them padding."""
    targets = data.targets([2, 4], vocab_size=9, pad_id=5, seed=3)
    assert targets.shape == (2, 6)
    for row, length in zip(targets.tolist(), (2, 4), strict=True):
        assert row[0] == BOS and row[length + 1] == EOS
        assert all(word in (3, 4, 6, 7, 8) for word in row[1 : length + 1])
        assert set(row[length + 2 :]) <= {5}


def test_the_copy_task_copies() -> None:
    """The source is words, EOS, padding; the target is the source behind a BOS; lengths are those asked for."""
    batches = data.copy_task(5, batch_size=16, min_words=2, max_words=6, seed=1)
    assert len(batches) == 5
    lengths = set()
    for src, tgt in batches:
        assert src.size(0) == 16 and (tgt[:, 0] == BOS).all() and torch.equal(tgt[:, 1:], src)
        for row in src.tolist():
            length = row.index(EOS)
            lengths.add(length)
            assert all(3 <= word < 13 for word in row[:length]) and set(row[length + 1 :]) <= {PAD}
        assert src[:, -1].any()
    assert lengths == {2, 3, 4, 5, 6}


def test_held_out_sequences_are_never_trained() -> None:
    """Whatever the seeds, no sequence is in both sets."""
    sets = [
        {
            tuple(row)
            for seed in range(3)
            for src, _ in data.copy_task(20, max_words=4, held_out=held, seed=seed)
            for row in torch.nn.functional.pad(src, (0, 5 - src.size(1))).tolist()
        }
        for held in (False, True)
    ]
    assert not sets[0] & sets[1] and min(map(len, sets)) > 300


def test_a_task_that_cannot_be_drawn_is_refused() -> None:
    """One word, or no length, would never fill a batch."""
    with pytest.raises(ValueError, match="vocab_size=4"):
        data.copy_task(1, vocab_size=4)
    with pytest.raises(ValueError, match="max_words=2"):
        data.copy_task(1, min_words=3, max_words=2)


def test_the_unrelated_task_has_nothing_to_learn() -> None:
    """Source and target agree as often as chance has it."""
    ((src, tgt),) = data.unrelated_task(1, batch_size=500, words=8, seed=2)
    assert src.shape == (500, 8) and tgt.shape == (500, 9) and (tgt[:, 0] == BOS).all()
    assert abs((src == tgt[:, 1:]).float().mean() - 0.1) < 0.02


def test_demonstrations_are_short_while_nbgrader_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps for a reader, two for the grader."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert data.shortened(700) == 700
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert data.shortened(700) == 2 and data.shortened(1) == 1


def test_the_sentence_can_be_read() -> None:
    """Equal words have equal vectors, other words others, and nobody changes the sentence of the next caller."""
    words, x = data.SENTENCE, data.sentence()
    assert x.shape == (len(words), 4)
    equal = torch.tensor([[one == other for one in words] for other in words])
    assert torch.equal((x[:, None] == x[None]).all(dim=-1), equal)
    x.zero_()
    assert data.sentence().any()


def test_reversed_words_keep_their_frame() -> None:
    """BOS, EOS and padding stay where they are, and the words between change places."""
    tgt = torch.tensor([[1, 5, 9, 3, 2, 0], [1, 7, 2, 0, 0, 0], [1, 4, 6, 8, 5, 2]])
    expected = [[1, 3, 9, 5, 2, 0], [1, 7, 2, 0, 0, 0], [1, 5, 8, 6, 4, 2]]
    assert data.reversed_words(tgt).tolist() == expected


def test_dates_are_right_and_none_that_is_held_out_comes_in_training() -> None:
    """Each text, read by its language's own names, is its date; training and the held-out share none."""
    training, held_out = data.dates(20_000, seed=1), data.dates(2_000, held_out=True, seed=2)
    assert not {text for text, _ in training} & {text for text, _ in held_out}
    years = {int(iso[:4]) for _, iso in training}
    assert years == set(range(1900, 2100)) - set(data.HELD_OUT_YEARS)
    assert {int(iso[:4]) for _, iso in held_out} >= set(data.HELD_OUT_YEARS)
    known = {
        "27. märz 2019": datetime.date(2019, 3, 27),
        "mercredi 27 mars 2019": datetime.date(2019, 3, 27),
        "siebenundzwanzigster märz 2019": datetime.date(2019, 3, 27),
        "march twenty-seventh, 2019": datetime.date(2019, 3, 27),
        "treinta y uno de diciembre de 1999": datetime.date(1999, 12, 31),
        "ventitré maggio 2001": datetime.date(2001, 5, 23),
        "drieëntwintig mei 2001": datetime.date(2001, 5, 23),
    }
    written = {
        data.written_date(date, language, pattern): date
        for date in known.values()
        for language, names in data._languages().items()
        for pattern in names["patterns"]
    }
    assert {text: written.get(text) for text in known} == known
    for text, iso in training + held_out:
        assert str(int(iso[:4])) in text


def test_dates_come_again_with_their_seed_and_leave_random_numbers_alone() -> None:
    """The same seed gives the same dates; nobody else's random numbers change."""
    state = random.getstate()
    assert data.dates(20, seed=3) == data.dates(20, seed=3) != data.dates(20, seed=4)
    assert random.getstate() == state


def test_the_tables_of_dates_are_those_of_the_program_that_makes_them() -> None:
    """`tools/make_dates.py` would write the file as it is, and no way of writing belongs to two dates."""
    assert make_dates.PATH.read_text(encoding="utf-8") == make_dates.text()
    dates = [datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(366)]
    meanings: dict[str, set[datetime.date]] = {}
    for language, names in data._languages().items():
        assert len(set(names["days_in_words"])) == 31
        for pattern in names["patterns"]:
            for date in dates:
                meanings.setdefault(data.written_date(date, language, pattern), set()).add(date)
    assert all(len(dates) == 1 for dates in meanings.values())

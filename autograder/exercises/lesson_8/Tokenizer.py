"""Exercise `Tokenizer`: its cases and its slips."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from autograder import check, parts
from autograder.exercises.lesson_8.shared import ALPHABETS, SIGNS, distinct, joined_where, of_words
from autograder.exercises.shared import some
from autograder.parts.translation.text import Pair, merge_pair

SPELLED = {  # as special tokens often are, and what these are read as
    "<pad>": "",
    "<bos>": "",
    "<eos>": "",
    "<s>": "",
    "</s>": "",
    "<unk>": "\N{REPLACEMENT CHARACTER}",
    "[PAD]": "",
}


def id_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Ids of texts with letters that the alphabet has, has not, and has the like of, by merges whose order matters."""
    alike = [("b", "c"), ("a", "b"), ("ab", "c"), ("a", "bc")]  # the last two spell the same piece
    with check.case(merges=alike, alphabet=list("abc")):
        tokenizer = answer(list(alike), list("abc"))
        mistakes = {"pieces of one spelling are counted once": 10}
        check.same("tokenizer.vocab_size", tokenizer.vocab_size, 11, mistakes=mistakes)
        check.same(
            'tokenizer.decode(tokenizer.encode("abc")[:1])', tokenizer.decode(tokenizer.encode("abc")[:1]), "abc"
        )
    longer_first = [("a", "b"), ("ab", "c"), ("c", "d")]
    for merges, known, text in (
        ([("a", "b")], "ab?", "aBäAß?b a b"),
        ([("A", "Ü")], "AÜ ", "aü\tU\N{NO-BREAK SPACE}A"),
        (longer_first, "abcd", "abcd"),
        *(([(sign, "a"), (sign + "a", "b")], "ab" + sign, f"ba{sign}ab{sign}a") for sign in SIGNS),
    ):
        with check.case(text=text, merges=merges, alphabet=list(known)):
            ids = parts.Tokenizer(merges, list(known)).encode(text)
            check.same("tokenizer.encode(text)", answer(list(merges), list(known)).encode(text), ids)
    generator = random.Random(seed)
    for index in some(seed, range(2 * len(ALPHABETS))):
        letters = ALPHABETS[index % len(ALPHABETS)]
        alphabet = generator.sample(letters, len(letters))
        merges = _merges(generator, letters, 6)
        tokenizer = answer(list(merges), list(alphabet))
        answer([("x", "y")], ["y", "x"])  # which plays no part
        expected = parts.Tokenizer(merges, alphabet)
        with check.case(merges=merges, alphabet=alphabet):
            size = tokenizer.vocab_size
        check.same("tokenizer.vocab_size", size, expected.vocab_size)
        for text in ("", *_texts(generator, letters + "Q7"[: index % 3], 4)):
            with check.case(text=text, merges=merges, alphabet=alphabet):
                ids = expected.encode(text)
                check.same("tokenizer.encode(text)", tokenizer.encode(text), ids)


def text_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Any text comes back whose letters are known, with PAD, BOS and EOS around it too; unknown letters as �."""
    given = {"merges": [("a", "b"), ("ab", "c")], "alphabet": list("cab")}
    check.leaves_alone("Tokenizer(merges, alphabet)", answer, given, {"encode": "abc", "decode": [5, 6, 3, 2]})
    generator = random.Random(seed)
    for letters in some(seed, ALPHABETS):
        merges = [*_merges(generator, letters, 5), *_merges(generator, letters, 5)]
        merges = list(dict.fromkeys(merges))
        tokenizer = answer(list(merges), list(letters))
        for text in ("", *_texts(generator, letters, 5)):
            with check.case(text=text, merges=merges, alphabet=list(letters)):
                ids = tokenizer.encode(text)
                check.same("tokenizer.decode(tokenizer.encode(text))", tokenizer.decode(ids), text)
                check.same("tokenizer.decode([1, *ids, 2, 0])", tokenizer.decode([1, *ids, 2, 0]), text)
                again = answer(list(merges), list(letters)).decode([*ids, 2, 0, *ids])
                check.same("tokenizer.decode([*ids, 2, 0, *ids])", again, 2 * text)
        for text in _texts(generator, letters + "Q", 2):
            with check.case(text=text, alphabet=list(letters)):
                got = tokenizer.decode(tokenizer.encode(text))
                check.same(
                    "tokenizer.decode(tokenizer.encode(text))", got, text.replace("Q", "\N{REPLACEMENT CHARACTER}")
                )
    for spelled, read in SPELLED.items():
        text, alphabet = f"x{spelled}x", list("x" + spelled)
        taken = {f"the letters `{spelled}` of a text are taken for a special token": f"x{read}x"}
        with check.case(text=text, alphabet=alphabet):
            tokenizer = answer([], list(alphabet))
            got = tokenizer.decode(tokenizer.encode(text))
            check.same("tokenizer.decode(tokenizer.encode(text))", got, text, mistakes=taken)


def _texts(generator: random.Random, letters: str, count: int) -> list[str]:
    return ["".join(generator.choices(letters, k=generator.randint(1, 12))) for _ in range(count)]


def _merges(generator: random.Random, letters: str, count: int) -> list[Pair]:
    """Merges of letters and of what earlier ones have made, no piece made twice."""
    made, merges = list(of_words(letters)), list[Pair]()
    while len(merges) < count:
        pair = generator.choice(made), generator.choice(made)
        if "".join(pair) not in made and len("".join(pair)) < 7:
            merges.append(pair)
            made.append("".join(pair))
    return merges


def id_slips(merges: Sequence[Pair], alphabet: Sequence[str], text: str) -> dict[str, list[Any]]:
    """Ids that a text may get."""
    pieces = [*alphabet, *map("".join, merges)]
    ids = {piece: 4 + place for place, piece in enumerate(pieces)}
    letters = [letter if letter in alphabet else "" for letter in text]

    def cut(order: Iterable[Pair], letters: Sequence[str] = letters) -> list[str]:
        parts = list(letters)
        for pair in order:
            parts = merge_pair(parts, pair)
        return parts

    def numbered(parts: Iterable[str]) -> list[int]:
        return [ids[part] if part else 3 for part in parts]

    right, joined = numbered(cut(merges)), [one + other for one, other in merges]
    orders = {
        "the letters are sorted, not in the order of the alphabet": [*sorted(alphabet), *joined],
        "the pieces of the merges are sorted, not in the order of the merges": [*alphabet, *sorted(joined)],
        "letters and the pieces of merges are sorted together": sorted([*alphabet, *joined]),
        "the merges get their ids before the letters": [*joined, *alphabet],
    }
    at_ends = slice(len(text) - len(text.lstrip()), len(text.rstrip()))
    words = [numbered(cut(merges, list(word))) for word in text.split()] if all(letters) else [right]
    lower = [letter if letter in alphabet else "" for letter in text.lower()]
    slips = {
        "the longest piece that fits is taken, instead of the merges in their order": numbered(
            joined_where(letters, lambda group: all(group) and "".join(group) in ids)
        ),
        "the merges are applied from the last to the first": numbered(cut(list(merges)[::-1])),
        "no merge is applied": numbered(letters),
        "no merge is applied after the first": numbered(cut(merges[:1])),
        "only the last merge is applied, to single letters": numbered(cut(merges[-1:])),
        "pairs are joined as they come in the text, not in the order of the merges": numbered(
            _as_they_come(letters, merges)
        ),
        "the text is gone through once, so that what was joined is not joined again": numbered(
            _as_they_come(letters, merges, step=1)
        ),
        "two neighbours are joined wherever they make a piece, by whatever merge": numbered(
            _as_they_come(letters, [(piece[:i], piece[i:]) for piece in joined for i in range(1, len(piece))], step=0)
        ),
        "the letters are made small": numbered(cut(merges, lower)),
        "spaces are lost": [place for place in right if place != ids.get(" ")],
        "spaces are taken out first, so that words run together": numbered(
            cut(merges, [letter for letter in letters if letter != " "])
        ),
        "spaces at the ends are lost, as by `strip`": numbered(cut(merges, letters[at_ends])),
        "each word is encoded by itself, and the spaces between them are lost": list(chain.from_iterable(words)),
        "ids begin at 0, where PAD, BOS, EOS and UNK belong": [place - 4 if place != 3 else 3 for place in right],
        "ids begin at 3, which is UNK": [place - 1 if place != 3 else 3 for place in right],
        "letters that are not in the alphabet are left out": [place for place in right if place != 3],
        "a letter that is not in the alphabet becomes 0, which is PAD": [place if place != 3 else 0 for place in right],
        "BOS and EOS are added": [1, *right, 2],
        "EOS is added": [*right, 2],
        "pieces are returned, not ids": cut(merges),
    }
    for slip, order in orders.items():
        slips[slip] = [4 + order.index(part) if part else 3 for part in cut(merges)]
    return distinct(slips, right)


def _as_they_come(letters: Sequence[str], merges: Sequence[Pair], step: int | None = None) -> list[str]:
    """The pieces of a text whose first pair that is a merge is joined everywhere, and then the next one.

    Args:
        step: go through the text once, join a pair where it stands, and go on by so many places.
    """
    parts, place = list(letters), 0
    while place < len(parts) - 1:
        if (pair := (parts[place], parts[place + 1])) not in merges:
            place += 1
        elif step is None:
            parts, place = merge_pair(parts, pair), 0
        else:
            parts[place : place + 2] = ["".join(pair)]
            place += step
    return parts


def text_slips(merges: Sequence[Pair], alphabet: Sequence[str], ids: Sequence[int]) -> dict[str, str]:
    """Texts that ids may become."""
    pieces = ["", "", "", "\N{REPLACEMENT CHARACTER}", *alphabet, *map("".join, merges)]
    right = [pieces[place] for place in ids]
    in_order = [*pieces[:4], *sorted(alphabet), *map("".join, merges)]
    slips = {
        "the pieces are joined with spaces between them": " ".join(right),
        "the pieces of words are joined with spaces between them": " ".join(filter(None, right)),
        "UNK is nothing, too": "".join(pieces[place] for place in ids if place != 3),
        "spaces are lost": "".join(right).replace(" ", ""),
        "what stands behind the first EOS is left out": "".join(pieces[place] for place in ids[: [*ids, 2].index(2)]),
        "the letters are sorted, not in the order of the alphabet": "".join(in_order[place] for place in ids),
        "the text comes back in the opposite order": "".join(right[::-1]),
    }
    return distinct(slips, "".join(right))

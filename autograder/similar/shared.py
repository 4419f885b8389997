"""What the pairs of a class share, in words and line by line, for a person to judge."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from autograder.course.names import counted
from autograder.report.page import shortened
from autograder.similar.hand_ins import NAMES, OWN_CELLS, WORDS, Cell, HandIn, Holdings, slip_of
from autograder.similar.pairs import Pair, counts_of, is_rare, pairs_of, tables_of
from autograder.similar.traits import Kind, Trait

NAMED = 5  # names in one line
MOST_SHOWN = 8000  # letters of a cell on the page


@dataclass(frozen=True)
class Share:
    """One sort of thing that two hand-ins share. Its fields are those of `--json`."""

    kind: Kind  # what it is
    where: str  # the exercise, or `OWN_CELLS`, `NAMES` or `WORDS`
    texts: tuple[str, ...]  # it, as the first of the two wrote it; of slips the checks

    def __str__(self) -> str:
        count, place = len(self.texts), self.where if self.where == OWN_CELLS else f"`{self.where}`"
        if self.kind is Kind.NAME:
            some = ", ".join(f"`{name}`" for name in self.texts[:NAMED])
            return f"the name{'s' if count > 1 else ''} {some}" + (
                f" and {count - NAMED} more" if count > NAMED else ""
            )
        if self.kind is Kind.SLIP:
            return "the same slip in " + ", ".join(f"`{check}`" for check in self.texts)
        if self.kind is Kind.PHRASE:
            return f"parts of {_count(count, 'line')} in {place}"
        what = {Kind.STATEMENT: "rare line", Kind.DOCSTRING: "line of docstrings", Kind.PASSAGE: "passage of words"}
        number = _count(count, what.get(self.kind, str(self.kind)))
        return f"{number} in {place}" if self.kind is Kind.STATEMENT else number


@dataclass(frozen=True)
class Passage:
    """What one student wrote in one place, in runs of lines that are shared or not, and what checks said of it."""

    runs: tuple[tuple[str, bool], ...]
    slips: tuple[str, ...]


@dataclass(frozen=True)
class SimilarPair:
    """Two hand-ins to look at together."""

    first: str
    second: str
    shares: tuple[Share, ...]
    passages: Mapping[str, tuple[Passage, Passage]]  # place → what each of the two wrote there


def similar_pairs(hand_ins: Sequence[HandIn], exercises: Sequence[str], known: Collection[Trait]) -> list[SimilarPair]:
    """Find the pairs that share what the class does not, those first that chance would bring about least.

    Args:
        exercises: the lesson's, in order.
        known: what counts nothing.
    """
    class_ = [hand_in.holdings(exercises) for hand_in in hand_ins]
    counts = counts_of(class_, known)
    order = [*exercises, OWN_CELLS]
    return [
        _similar(pair, hand_ins, _shared(pair, class_, counts), order) for pair in pairs_of(tables_of(class_, known))
    ]


def _shared(pair: Pair, class_: Sequence[Holdings], counts: Mapping[str, Counter[Trait]]) -> dict[str, set[Trait]]:
    """Aspect → the rare traits that both have."""
    return {
        aspect: {
            trait
            for trait in class_[pair.first][aspect] & class_[pair.second][aspect]
            if trait in counts[aspect] and is_rare(counts[aspect][trait], len(class_))
        }
        for aspect in pair.aspects
    }


def _similar(
    pair: Pair, hand_ins: Sequence[HandIn], shared: Mapping[str, set[Trait]], order: Sequence[str]
) -> SimilarPair:
    first, second = hand_ins[pair.first], hand_ins[pair.second]
    passages = {place: (_passage(first, place, shared), _passage(second, place, shared)) for place in order}
    seen = {place: both for place, both in passages.items() if all(any(run[1] for run in one.runs) for one in both)}
    seen |= {place: both for place, both in passages.items() if both[0].slips and both[1].slips}
    shares = tuple(_shares(first, shared, order))
    return SimilarPair(first.student, second.student, shares, {place: seen[place] for place in order if place in seen})


def _shares(hand_in: HandIn, shared: Mapping[str, set[Trait]], order: Sequence[str]) -> Iterator[Share]:
    """Say what is shared, by where it stands."""
    for aspect in (*order, WORDS, NAMES):
        traits = shared.get(aspect, set())
        kinds = {kind: sorted(trait for trait in traits if trait.kind is kind) for kind in Kind}
        if kinds[Kind.STATEMENT]:
            kinds[Kind.PHRASE] = []
        if any(kinds[kind] for kind in (Kind.COMMENT, Kind.DOCSTRING, Kind.TEXT)):
            kinds[Kind.PASSAGE] = []
        for kind, some in kinds.items():
            if kind is Kind.SLIP:
                texts = [outcome.check for outcome in hand_in.slips if slip_of(outcome) in some]
            elif kind is Kind.NAME:
                texts = [trait.text for trait in some]
            else:
                texts = _lines(hand_in, some)
            if texts:
                yield Share(kind, aspect, tuple(texts))


def _lines(hand_in: HandIn, traits: Collection[Trait]) -> list[str]:
    """The lines on which a hand-in has these traits."""
    found: list[str] = []
    for cell in hand_in.cells:
        lines = cell.source.splitlines()
        numbers = sorted({min(cell.traits[trait]) for trait in traits if trait in cell.traits})
        found += [lines[number - 1].strip() for number in numbers if number <= len(lines)]
    return list(dict.fromkeys(found))


def _passage(hand_in: HandIn, place: str, shared: Mapping[str, set[Trait]]) -> Passage:
    """What stands in a place, what of it is shared, and what checks said that they said to both."""
    runs: list[tuple[str, bool]] = []
    for cell in hand_in.cells:
        if cell.place == place:
            marked = _marked(cell, shared)
            if place == OWN_CELLS and not marked:
                continue
            source = shortened(cell.source, MOST_SHOWN)
            lines = [(line, number in marked) for number, line in enumerate(source.splitlines(), 1)]
            parts = [(list(run), is_shared) for is_shared, run in groupby(lines, key=lambda line: line[1])]
            runs += [("".join(f"{line}\n" for line, _ in run), is_shared) for run, is_shared in parts]
            runs.append(("\n", False))
    slips = tuple(outcome.message for outcome in hand_in.slips if slip_of(outcome) in shared.get(place, ()))
    return Passage(tuple(runs[:-1]), slips)


def _marked(cell: Cell, shared: Mapping[str, set[Trait]]) -> set[int]:
    """The lines of a cell with something shared on them."""
    here = shared.get(cell.place, set()) | shared.get(WORDS, set())
    return {line for trait, lines in cell.traits.items() if trait in here for line in lines}


def _count(number: int, what: str) -> str:
    return f"a {what}" if number == 1 else counted(number, what)

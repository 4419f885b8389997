"""What a panel draws beside its words: two maps of numbers, or two shapes. It holds plain numbers and no tensors.

Both are tables, since a table is what every notebook front end shows, and what a screen reader can walk through. Where
a front end takes the colours away, numbers and marks remain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from torch import Tensor

from autograder.check._panel.scale import ROOM, THICK, THIN, Number, Rows, Scale

ROWS, COLUMNS, ONE_ROW = 12, 8, 12  # the largest map, and the longest where there is but one row
CELLS, CELLS_OF_FLOATS = 56, 42  # of one map: a panel stays below 8 kB, and the two maps stand side by side
MAP = "margin:0;width:auto;table-layout:auto;border-collapse:separate;border-spacing:1px;font-size:11px;line-height:1.7"
SIZES = "margin:.5em 0;width:auto;table-layout:auto"
CAPTION = "caption-side:top;text-align:left;padding:0;color:inherit;font-weight:bold"
SIDE_BY_SIDE = "display:flex;flex-wrap:wrap;gap:8px 24px;margin:.5em 0"


@dataclass(frozen=True)
class Values:
    """A part of what was expected and of what came, around the place that a verdict names.

    Attributes:
        index: where the part is, as one would write it in brackets, "1, :, 4:12".
        shape: of the whole.
        first: the index of the first row, None where there is but one row, and that of the first column.
        place: row and column of the place, counted in the part.
        rtol, atol: what may differ, as in `torch.allclose`.
    """

    expected: Rows
    got: Rows
    index: str
    shape: tuple[int, ...]
    first: tuple[int | None, int]
    place: tuple[int, int]
    rtol: float = 0.0
    atol: float = 0.0

    def html(self) -> str:
        """Two maps side by side, and a sentence that says what they show."""
        scale = Scale(self.expected, self.got, self.place)
        places = [(i, j) for i, row in enumerate(self.expected) for j in range(len(row))]
        differing = {at for at in places if self._differs(*at)} | {self.place}
        framed = differing if len(differing) < len(places) else set()  # a frame around everything shows nothing
        maps = self._map("expected", self.expected, set(), scale) + self._map("got", self.got, framed, scale)
        alike = sum(scale.text(self.expected[i][j]) == scale.text(self.got[i][j]) for i, j in differing)
        legend = self._legend(len(differing), len(places), scale)
        legend += f" {alike} of them only in digits that are not shown." if alike else ""
        return f'<div style="{SIDE_BY_SIDE}">{maps}</div><div>{escape(legend)}</div>'

    def _differs(self, i: int, j: int) -> bool:
        wanted, found = self.expected[i][j], self.got[i][j]
        return wanted != found and not abs(found - wanted) <= self.atol + self.rtol * abs(wanted)  # so NaN differs

    def _legend(self, differing: int, count: int, scale: Scale) -> str:
        whole = set(self.index.split(", ")) == {":"}
        what = f"All entries, shape {self.shape}" if whole else f"Entries [{self.index}] of shape {self.shape}"
        key = "; 1 is True, 0 is False" if scale.is_mask else ""
        if differing == 1:
            return f"{what}{key}. One of {count} differs, framed."
        if differing == count:
            return f"{what}{key}. All {count} differ; the frame is at the place named above."
        return f"{what}{key}. {differing} of {count} differ, framed; the thick frame is at the place named above."

    def _map(self, caption: str, rows: Rows, framed: set[tuple[int, int]], scale: Scale) -> str:
        first_row, first_column = self.first
        heads = "".join(f'<th scope="col">{ROOM}{first_column + j}{ROOM}</th>' for j in range(len(rows[0])))
        body = ""
        for i, row in enumerate(rows):
            head = f'<th scope="row">{ROOM}{first_row + i}{ROOM}</th>' if first_row is not None else ""
            frames = (THICK if (i, j) == self.place else THIN if (i, j) in framed else "" for j in range(len(row)))
            body += f"<tr>{head}{''.join(map(scale.cell, row, frames))}</tr>"
        head = f"<thead><tr>{'<td></td>' if first_row is not None else ''}{heads}</tr></thead>"
        return f'<table style="{MAP}"><caption style="{CAPTION}">{caption}</caption>{head}<tbody>{body}</tbody></table>'


@dataclass(frozen=True)
class Sizes:
    """Two shapes, and the names of the dimensions where the check knows them."""

    expected: tuple[int, ...]
    got: tuple[int, ...]
    names: tuple[str, ...] = ()

    def html(self) -> str:
        """A table with a row for each dimension; sizes that differ are marked."""
        heads = "".join(f'<th scope="col">{head}</th>' for head in ("dimension", "expected", "got"))
        body = ""
        for i in range(max(len(self.expected), len(self.got))):
            wanted, found = (str(sizes[i]) if i < len(sizes) else "none" for sizes in (self.expected, self.got))
            name = f"{i} · {self.names[i]}" if i < len(self.names) else str(i)
            marked = found if found == wanted else f"<b>≠ {found}</b>"
            body += f'<tr><th scope="row">{escape(name)}</th><td>{wanted}</td><td>{marked}</td></tr>'
        caption = f'<caption style="{CAPTION}">Sizes; ≠ marks what differs</caption>'
        return f'<table style="{SIZES}">{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'


MOST_DIMENSIONS = 8  # of a shape that is drawn


def sizes(expected: Sequence[int], got: Sequence[int], names: Sequence[str] = ()) -> Sizes | None:
    """Keep two shapes; None where one of them is no longer read at a glance, or is not made of numbers."""
    try:
        kept = Sizes(tuple(map(int, expected)), tuple(map(int, got)), tuple(names))
    except Exception:  # as in `values`
        return None
    return kept if max(len(expected), len(got)) <= MOST_DIMENSIONS else None


def values(
    expected: Tensor, got: Tensor, place: Sequence[int], *, rtol: float = 0.0, atol: float = 0.0
) -> Values | None:
    """What a panel shows of two tensors of one shape around a place; None where nothing can be seen."""
    try:
        shape = tuple(int(size) for size in expected.shape)
        wide = [axis for axis, size in enumerate(shape) if size > 1][-2:]
        if not wide:
            return None
        cells = CELLS_OF_FLOATS if expected.is_floating_point() or got.is_floating_point() else CELLS
        rows = min(ROWS, cells // min(shape[wide[-1]], COLUMNS))
        most = [rows, COLUMNS] if len(wide) == 2 else [ONE_ROW]
        window = [slice(at, at + 1) for at in place]
        for axis, count in zip(wide, most, strict=True):
            start = max(0, min(place[axis] - count // 2, shape[axis] - count))
            window[axis] = slice(start, min(start + count, shape[axis]))
        expected_rows, got_rows = (_numbers(tensor, window, wide) for tensor in (expected, got))
    except Exception:  # an answer's tensor may be of any class; that it cannot be drawn is no verdict
        return None
    index = ", ".join(_text(part, shape[axis]) if axis in wide else str(part.start) for axis, part in enumerate(window))
    row, column = (window[wide[0]].start if len(wide) == 2 else None), window[wide[-1]].start
    inside = place[wide[0]] - row if row is not None else 0, place[wide[-1]] - column
    return Values(expected_rows, got_rows, index, shape, (row, column), inside, rtol, atol)


def _numbers(tensor: Tensor, window: list[slice], wide: list[int]) -> Rows:
    """The entries in a window, row by row."""
    counts = [window[axis].stop - window[axis].start for axis in wide]
    rows, columns = counts if len(counts) == 2 else [1, *counts]
    found = tensor.detach()[tuple(window)].reshape(rows, columns).tolist()
    if [len(row) for row in found] != [columns] * rows or {type(n) for row in found for n in row} - {*Number.__args__}:
        raise TypeError("These are not the numbers of a tensor.")
    return tuple(map(tuple, found))


def _text(window: slice, size: int) -> str:
    return ":" if window == slice(0, size) else f"{window.start}:{window.stop}"

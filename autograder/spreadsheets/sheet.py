"""CSV files: new ones that spreadsheets take without harm, and given ones that are filled and else left as they are."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from autograder import files
from autograder.course.config import CourseError

BOM = "\ufeff"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
MOST_BYTES = 50 * 2**20


def number(value: float) -> str:
    """Write points as they are read: at most four decimals, a point between, no zeros behind."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def harmless(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula, as OWASP advises."""
    return f"'{text}" if text.startswith(FORMULA) else text


def table(rows: Iterable[Sequence[str]], *, bom: bool) -> bytes:
    """Write a new CSV file as RFC 4180 has it: commas, quotation marks where they are needed, CR LF.

    Args:
        bom: begin with the mark by which Excel knows UTF-8; without it, Excel breaks accents.
    """
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return (BOM * bom + text.getvalue()).encode()


@dataclass
class Row:
    """A line of a CSV file: its cells as they stand there, quotation marks and all."""

    cells: list[str]
    line: int  # where it begins, counted from 1
    end: str  # what ends it, "" at the end of a file

    @property
    def is_blank(self) -> bool:
        """Whether nothing stands in it."""
        return not any(value(cell).strip() for cell in self.cells)


@dataclass
class Sheet:
    """A CSV file that somebody downloaded; what is not put into it keeps its bytes."""

    path: Path
    rows: list[Row]  # the headings first; all of the same length, blank ones apart
    delimiter: str
    bom: bool
    notes: tuple[str, ...] = ()  # what was odd about the file

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file, with commas or semicolons, in UTF-8 with or without a mark, or in Windows' encoding.

        Raises:
            CourseError: it is not there, or no table.
        """
        text, notes = _text(path)
        bom = text.startswith(BOM)
        text = text.removeprefix(BOM)
        if not text.strip():
            raise CourseError(f"{path} is empty. Download it again.")
        delimiter = max(",;", key=lambda delimiter: _width(text, delimiter))
        try:
            rows = list(_rows(text, delimiter))
        except ValueError as error:
            raise CourseError(f"{path} is no CSV file: {error}. Download it again.") from None
        sheet = cls(path, rows, delimiter, bom, notes)
        sheet._even_out()
        return sheet

    @property
    def headings(self) -> list[str]:
        """The first row, without space around."""
        return [value(cell).strip() for cell in self.rows[0].cells]

    def column(self, *names: str) -> int | None:
        """Return where the first of these headings stands, None where none does; case does not count."""
        headings = [heading.casefold() for heading in self.headings]
        return next((headings.index(name.casefold()) for name in names if name.casefold() in headings), None)

    def require(self, *names: str, advice: str = "") -> int:
        """Return where a heading stands.

        Args:
            advice: what to do where there is none.

        Raises:
            CourseError: there is none of these.
        """
        column = self.column(*names)
        if column is None:
            some = ", ".join(self.headings[:20]) + (", …" if len(self.headings) > 20 else "")
            raise CourseError(f"{self.path} has no column “{names[0]}”. Its columns are: {some}. {advice}".rstrip())
        return column

    def get(self, row: Row, column: int | None) -> str:
        """Return what a cell says, "" where there is no such column."""
        return "" if column is None or column >= len(row.cells) else value(row.cells[column])

    def put(self, row: Row, column: int, text: str) -> None:
        """Write into a cell."""
        if re.search(rf'[{self.delimiter}"\r\n]|^\s|\s$', text):
            text = '"' + text.replace('"', '""') + '"'
        row.cells[column] = text

    def insert(self, column: int, heading: str) -> None:
        """Make room for a new column, which is empty but for its heading."""
        for row in self.rows:
            if row is self.rows[0] or not row.is_blank:
                row.cells.insert(column, "")
        self.put(self.rows[0], column, heading)

    def to_bytes(self) -> bytes:
        """Return the file, in UTF-8."""
        text = "".join(self.delimiter.join(row.cells) + row.end for row in self.rows)
        return (BOM * self.bom + text).encode()

    def _even_out(self) -> None:
        """Give short rows the empty cells that some editors cut off."""
        width = len(self.rows[0].cells)
        for row in self.rows:
            if row.is_blank:
                continue
            if len(row.cells) > width:
                raise CourseError(
                    f"{self.path}, line {row.line}, has {len(row.cells)} cells, and there are {width} headings. "
                    "Download it again."
                )
            row.cells += [""] * (width - len(row.cells))


def value(cell: str) -> str:
    """Return what a cell says, without its quotation marks."""
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell


def _text(path: Path) -> tuple[str, tuple[str, ...]]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise CourseError(
                f"{path} has more than {MOST_BYTES // 2**20} MB, which no class fills. Name another file."
            )
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f"There is no file {path}. Download it first.") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror}). Name another file.") from None
    if raw[:2] == b"PK" or b"\0" in raw[:1000]:
        raise CourseError(f"{path} is no text in UTF-8, but perhaps a workbook. Download the CSV file again.")
    try:
        return raw.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
    note = (
        f"{path} is not in UTF-8 (line {line}); it was read as Windows-1252, as Excel writes it. Look at the accents."
    )
    try:
        return raw.decode("cp1252"), (note,)
    except UnicodeDecodeError:
        raise CourseError(
            f"{path} is not in UTF-8 (line {line}), nor in an encoding that can be told. "
            "Download it again, or save it in Excel as “CSV UTF-8”."
        ) from None


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    """Cut a text into rows of cells.

    Raises:
        ValueError: a quotation mark is not closed, or something follows it.
    """
    cell = re.compile(rf'("(?:[^"]++|"")*+"|(?!")[^{delimiter}\r\n]*)({delimiter}|\r\n|\n|\r|\Z)')
    cells: list[str] = []
    place, line, begin = 0, 1, 1
    while place < len(text) or cells:
        match = cell.match(text, place)
        if not match:
            raise ValueError(f"in line {line} a quotation mark is not closed, or text follows it")
        cells.append(match[1])
        line += len(re.findall(r"\r\n|\n|\r", match[0]))
        place = match.end()
        if match[2] != delimiter:
            yield Row(cells, begin, match[2])
            cells, begin = [], line


def _width(text: str, delimiter: str) -> int:
    try:
        return len(next(_rows(text, delimiter)).cells)
    except ValueError:
        return 0


def save(path: Path, data: bytes, *, force: bool = False, suffix: str = ".csv", template: Path | None = None) -> None:
    """Write a file that its owner alone can read, whole or not at all.

    Args:
        force: replace one that is there.
        suffix: what its name has to end in, so that a slip of the keyboard replaces no gradebook.
        template: the file that is never replaced.

    Raises:
        CourseError: it may not be written there.
    """
    path = Path(os.path.realpath(path))
    if path.suffix.lower() != suffix:
        raise CourseError(f"{path.name} does not end in {suffix}. Give --output such a name.")
    if template is not None and template.exists() and path.exists() and path.samefile(template):
        raise CourseError(f"{template} would be overwritten by what is made from it. Give --output another name.")
    if path.exists() and not path.is_file():
        raise CourseError(f"{path} is there, and no file. Give --output another name.")
    if path.exists() and not force:
        raise CourseError(f"{path} exists. Give --output another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise CourseError(f"There is no folder {path.parent}. Make it, or give --output another name.")
    files.write(path, data, mode=0o600)

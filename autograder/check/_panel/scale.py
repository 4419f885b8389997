"""How a number in a map is written and coloured: in the colours of the course's figures, never by colour alone."""

import math

Number = bool | int | float
Rows = tuple[tuple[Number, ...], ...]
THIN, THICK = "border:1px solid", "border:3px solid"  # inside the cell, so that its text's colour can be seen
MOST_DIGITS = 6
FAINT = 0.2  # what is less in all of a map has a scale of its own
LONG = 1e4  # a number from here on has one digit and an exponent
ROOM = "\u00a0"  # on both sides of a number: some pages take all padding away, and padding each cell takes bytes
NO_NUMBER = "#bbb"


class Scale:
    """One scale for both maps: grey and blue for masks, blues for what begins at 0, two colours on both sides of 0."""

    def __init__(self, expected: Rows, got: Rows, place: tuple[int, int]) -> None:
        import matplotlib

        from autograder.colours import BLOCKED_ALLOWED, SIGNED, WEIGHTS

        flat = [value for rows in (expected, got) for row in rows for value in row]
        finite = [float(value) for value in flat if math.isfinite(value)]
        wanted = [abs(float(value)) for row in expected for value in row if math.isfinite(value)]
        most, wanted_most = max(map(abs, finite), default=0.0), max(wanted, default=0.0)
        largest = min(most, 4 * wanted_most) or most or 1.0  # one wild value does not make all others pale
        signed = min(finite, default=0.0) < 0
        self.is_mask = any(isinstance(value, bool) for row in expected for value in row)
        self._signed = signed and not self.is_mask
        self._largest = 1.0 if self.is_mask or (FAINT < largest <= 1 and not signed) else largest
        self._colours = BLOCKED_ALLOWED if self.is_mask else matplotlib.colormaps[SIGNED if signed else WEIGHTS]
        self._whole = all(isinstance(value, int) for value in flat)
        self._digits = _digits(max((abs(value) for value in finite if abs(value) < LONG), default=0.0))
        here = {rows[place[0]][place[1]] for rows in (expected, got)}
        if len(here) == 2 and all(map(math.isfinite, here)):  # the two that a verdict names have to look different
            while self._digits < MOST_DIGITS and len({self.text(value) for value in here}) == 1:
                self._digits += 1

    def cell(self, value: Number, frame: str) -> str:
        """A table's cell, its number in a frame or, with "", in none."""
        background, light = self._background(value)
        text = self.text(value)
        text = f'<b style="{frame}">{text}</b>' if frame else text
        style = f"background:{background};color:{'#000' if light else '#fff'}"
        return f'<td style="{style}">{ROOM}{text}{ROOM}</td>'

    def _background(self, value: Number) -> tuple[str, bool]:
        """A colour, and whether it is light."""
        if math.isnan(value):
            return NO_NUMBER, True
        part = max(-1.0, min(1.0, value / self._largest))
        colour = self._colours((part + 1) / 2 if self._signed else max(part, 0.0))
        red, green, blue = (channel**2.2 for channel in colour[:3])
        light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18  # where black and white read equally well
        return "#" + "".join(f"{round(255 * channel):02x}" for channel in colour[:3]), light

    def text(self, value: Number) -> str:
        """How a number is written."""
        if isinstance(value, bool):
            return str(int(value))
        if not math.isfinite(value):
            return "nan" if math.isnan(value) else "∞" if value > 0 else "−∞"
        if abs(value) >= LONG:
            text = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
        else:
            text = str(value) if self._whole else f"{value:.{self._digits}f}"
        return text.replace("-", "−") if float(text) else text.removeprefix("-")


def _digits(largest: float) -> int:
    """Decimals that show about three digits of the largest number."""
    if largest >= 10:
        return 1 if largest < 1000 else 0
    return 2 if largest >= 0.1 or largest == 0 else min(6, 1 - math.floor(math.log10(largest)))

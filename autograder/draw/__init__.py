"""The course's figures: one look, colours that colour-blind readers can tell apart, and a sentence for each picture.

Every function takes tensors and returns a `Picture`, which a notebook shows when it is the last line of a cell.
"""

from autograder.draw.curves import bars, lines, rotation, waves
from autograder.draw.diagrams import architecture, flow
from autograder.draw.maps import attention, encoding, heads, masks
from autograder.draw.picture import Picture

__all__ = [
    "Picture",
    "architecture",
    "attention",
    "bars",
    "encoding",
    "flow",
    "heads",
    "lines",
    "masks",
    "rotation",
    "waves",
]

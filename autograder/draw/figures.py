"""All figures, under one name each: what `autograder.draw` is made of, once a figure is asked for."""

from autograder.draw.curves import bars, lines, norms, rotation, waves
from autograder.draw.diagrams import architecture, flow, since_2017
from autograder.draw.explorer import Explorer, explore
from autograder.draw.maps import attention, encoding, heads, masks
from autograder.draw.picture import Picture
from autograder.draw.training import loss, schedule
from autograder.draw.trees import beam
from autograder.draw.writing import decoding, reading, translation

__all__ = ["Explorer", "Picture", "architecture", "attention", "bars", "beam", "decoding", "encoding", "explore"]
__all__ += ["flow", "heads", "lines", "loss", "masks", "norms", "reading", "rotation", "schedule", "since_2017"]
__all__ += ["translation", "waves"]

"""The colours of figures, and of numbers in figures and in panels, by Matplotlib's names."""

from matplotlib.colors import ListedColormap

# Okabe and Ito's palette, made to be told apart by colour-blind readers, three of them darker so that they can be read.
PALETTE = ["#0072B2", "#E69F00", "#00856A", "#B05F8C", "#56B4E9", "#C65102"]
OWN, OTHER = PALETTE[0], PALETTE[5]  # what looks, writes or was first; what is looked at, is read or came after
INK, QUIET, FAINT, PAPER = "#22262B", "#5F666E", "#DCDDDD", "#FBFBF9"
WEIGHTS = "Blues"
SIGNED = "PuOr"
BLOCKED_ALLOWED = ListedColormap(["#ECECEC", OWN])

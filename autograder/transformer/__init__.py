"""The lessons of this package: what they bring to the engine, and the cells that are the same in all of them."""

from autograder.lessons import Lessons

LESSONS = Lessons(
    modules=tuple(f"autograder.{name}" for name in ("data", "draw", "exercises", "parts")),
    finished=("autograder.parts",),
    classes=(
        *(f"torch.nn:{name}" for name in ("TransformerEncoderLayer", "TransformerDecoderLayer")),
        *(f"torch.nn:{name}" for name in ("TransformerEncoder", "TransformerDecoder", "Transformer")),
        "autograder.parts.blocks:_RecordingAttention",
    ),
    # What one is going to say, and what the other was given; a copy elsewhere would not remember.
    secretive=("autograder.parts:ScriptedModel", "autograder.parts:NextByHistory"),
    warm=("autograder.draw.figures", "autograder.yours"),
    together=(("Encoder", "Decoder"),),
    passed=("autograder.yours:passed",),
    failed=("autograder.yours:failed",),
    sample=("autograder.exercises.lesson_0.pairwise_dots:sample",),
    missed=(r"^questions   \d+ of \d+ topics right when last asked(?:; missed: (?P<topics>.+))?$",),
    boards=(("09_since_2017", "autograder.yours.entries:measure"),),
)
SETUP = """\
# @title Setup: run this first
import sys

if "google.colab" in sys.modules:
    from pathlib import Path
    wheels = sorted(Path().glob("transformer*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        print("Colab needs the course's .whl file. Upload it (Files, on the left), and run this again.")
    for newest in wheels[-1:]:  # a second download is called "… (1).whl", which pip does not take
        wheel = newest.rename(newest.name.partition("-any")[0] + "-any.whl")
        %pip install --quiet {wheel}

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, data, draw, exercises, parts, yours

device = torch.device(
    "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
)
print(f"Ready: PyTorch {torch.__version__} on {device}.")"""
PROGRESS = "# What you have solved, going by your last checks, and what is kept.\ncheck.progress()\nyours.summary()"
CELLS = {"setup": SETUP, "progress": PROGRESS}  # by their ids

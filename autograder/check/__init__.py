"""What check cells call: a small vocabulary of statements about an answer, each with a message of its own.

Every statement names the learner's own expression as text first, then takes the value, then what is wanted. It
returns nothing when the statement holds and raises `CheckFailed` when it does not. What each known slip would give are
its `mistakes`, by the sentence that completes "… when".
"""

from autograder.check._causes import audit
from autograder.check._errors import CheckFailed, NotWritten, case
from autograder.check._exercise import SEED as SEED
from autograder.check._exercise import exercise
from autograder.check._exercise import seed_all as seed_all
from autograder.check._forbidden import without
from autograder.check._gradients import gradient_reaches, gradients_agree, gradients_reach
from autograder.check._measure import measured, processor_seconds
from autograder.check._modules import buffer, defaults, device, layers, mode, parameters, separate, settings
from autograder.check._plain import all_same, leaves_alone, same
from autograder.check._progress import lesson, progress, relies_on
from autograder.check._tensors import (
    close,
    differs,
    dropout,
    dtype,
    equal,
    number,
    numbers,
    python_number,
    raises,
    returns,
    shape,
    stays,
    true,
    unchanged,
)

__all__ = ["CheckFailed", "NotWritten", "audit", "case", "exercise", "lesson", "progress", "relies_on", "without"]
__all__ += ["close", "differs", "dropout", "dtype", "equal", "number", "numbers", "python_number", "raises", "returns"]
__all__ += ["shape", "stays", "true", "unchanged", "gradient_reaches", "gradients_agree", "gradients_reach"]
__all__ += ["buffer", "defaults", "device", "layers", "mode", "parameters", "separate", "settings"]
__all__ += ["all_same", "leaves_alone", "same", "measured", "processor_seconds"]

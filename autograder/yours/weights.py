"""The weights of the model that a learner has trained, kept beside its source until the source changes."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from autograder import files
from autograder.yours import own, place
from autograder.yours.parts_file import TRANSLATES, WRITES

Weights = Mapping[str, Tensor]
Batch = TypeVar("Batch")
NOT_FINITE = "weights that are no numbers any more (NaN, or infinite)"


def while_finite(model: nn.Module, batches: Iterable[Batch]) -> Iterator[Batch]:
    """Hand out batches for a training, for as long as the weights stay numbers.

    Raises:
        ArithmeticError: a step made something else of them; says where to look.
    """
    for batch in batches:
        yield batch
        if not _is_finite(model):
            raise ArithmeticError(
                f"The last step left {NOT_FINITE}, and no later one can mend them, so the training stops here. Most "
                "often some query may attend to nothing: look at the masks of lesson 1. Or something is divided by 0, "
                "or its logarithm taken: `torch.autograd.set_detect_anomaly(True)`, before the training, finds the "
                "line."
            )


def _is_finite(model: nn.Module) -> bool:
    return bool(nn.utils.parameters_to_vector(model.parameters()).isfinite().all())


def save_weights(model: nn.Module, snapshots: Mapping[int, Weights]) -> None:
    """Keep a trained model's weights, and those that it had on the way, for later lessons; never raise.

    Args:
        model: a `Transformer`, the learner's own or the course's.
        snapshots: its `state_dict` after some numbers of steps.
    """
    if not place.is_used() or not _is_kept(model):
        return
    path, trained = place.folder() / place.WEIGHTS, {name for name, _ in model.named_parameters()}
    kept = {
        step: _on_cpu({name: value for name, value in weights.items() if name in trained})
        for step, weights in snapshots.items()
    }
    content = {"snapshots": kept, "signature": own.read().signature("Transformer")}
    if _is_written(path, model, content, ", so lesson 7 will train the model again"):
        print(f"The weights are kept in {place.WEIGHTS}, beside {place.FILE}; lesson 7 goes on with them.")


def load_weights(model: nn.Module) -> dict[int, dict[str, Tensor]] | None:
    """Put kept weights into a model; never raise.

    Returns:
        The parameters of the snapshots that `save_weights` was given; None where nothing that is kept fits.
    """
    if not place.is_used() or (path := place.found(place.WEIGHTS)) is None:
        print("No saved weights, so the model is trained here.")
        return None
    try:
        kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if kept["signature"] != own.read().signature("Transformer"):
            print("Your Transformer has changed since its weights were kept, so it is trained again.")
            print("Run lesson 6 once more to keep its new weights.")
            return None
        snapshots: dict[int, dict[str, Tensor]] = dict(kept["snapshots"])
        missing, _ = model.load_state_dict(kept["weights"], strict=False)
        if trained := sorted(set(missing) & {name for name, _ in model.named_parameters()}):
            raise KeyError(*trained)
        if not _is_finite(model):
            raise ArithmeticError
    except Exception as error:  # a file of any bytes
        print(f"{path} cannot be used ({type(error).__name__}), so the model is trained here.")
        return None
    print(f"The weights that lesson 6 trained, from {place.WEIGHTS}.")
    return snapshots


def save_translator(
    model: nn.Module, sizes: Sequence[int], merges: Sequence[tuple[str, str]], alphabet: Sequence[str]
) -> None:
    """Keep what a terminal needs to translate with the learner's file, beside it; never raise.

    Args:
        model: a `Transformer` with shared embeddings, made of the learner's parts.
        sizes: what it was made of: both vocabularies, d_model, num_heads, num_layers, d_ff.
        merges, alphabet: its tokenizer's.
    """
    content = {"sizes": list(sizes), "merges": list(merges), "alphabet": list(alphabet)}
    _save(model, place.TRANSLATOR, content, TRANSLATES, '"27. März 2019"')


def save_writer(model: nn.Module, sizes: Sequence[int], letters: Sequence[str]) -> None:
    """Keep what a terminal needs to write with the learner's file, beside it; never raise.

    Args:
        model: a `GPT`, made of the learner's parts.
        sizes: what it was made of: vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff.
        letters: the character of each id.
    """
    content = {"sizes": list(sizes), "letters": list(letters)}
    _save(model, place.WRITER, content, WRITES, '--write "The if statement"')


def _save(model: nn.Module, name: str, content: Mapping[str, object], parts: Sequence[str], arguments: str) -> None:
    """Keep a model's weights and what else a program of the learner's file needs, where all `parts` are the learner's.

    Args:
        arguments: what the program is then called with.
    """
    if not place.is_used() or not _is_kept(model):
        return
    learners = own.read()
    needed = {name: section for part in parts for name, section in learners.sections_of(part).items()}
    if courses := [name for name, section in needed.items() if section is None]:
        print(f"Not kept, since a terminal has only what is yours, and these are the course's: {', '.join(courses)}.")
        return
    path = place.folder() / name
    if _is_written(path, model, content):
        print(f"Kept in {path}. In a terminal there: python {place.FILE} {arguments}")


def _is_written(path: Path, model: nn.Module, content: Mapping[str, object], so: str = "") -> bool:
    """Write a model's weights and what belongs to them; where that fails, say what comes of it."""
    buffer = io.BytesIO()
    torch.save({"weights": _on_cpu(model.state_dict()), **content}, buffer)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, buffer.getvalue())
    except OSError as error:
        print(f"{path} cannot be written ({type(error).__name__}){so}.")
        return False
    return True


def _is_kept(model: nn.Module) -> bool:
    """The weights are numbers; otherwise say that they are not kept."""
    if not (is_finite := _is_finite(model)):
        print(f"Not kept: the model has {NOT_FINITE}.")
    return is_finite


def _on_cpu(weights: Weights) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in weights.items()}

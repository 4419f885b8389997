"""What students hand in: any answers put into a released notebook, and what the five of the demo class make of it."""

import copy
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograder.course.config import CourseError
from autograder.course.lesson import Exercise, Lesson, cell_id, is_marked

STUDENTS = ("perfect", "untouched", "half-done", "typical", "messy")

# What stands in each solution region of an answer instead of the solution; None leaves the region as it is.
TYPICAL: dict[str, Sequence[str | None]] = {
    "scaled_dot_product_attention": ["""\
        scores = query @ key.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights"""],
    "padding_mask": ["return (tokens == pad_id)[:, None, None, :]"],
    "causal_mask": ["return torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)"],
    "split_heads": ["""\
        batch, seq_len, d_model = x.shape
        return x.reshape(batch, num_heads, seq_len, d_model // num_heads)"""],
    "TokenEmbedding": [None, "return self.embedding(tokens)"],
    "sinusoidal_encoding": ["""\
        position = torch.arange(max_len).unsqueeze(1)
        angle = position / 10000 ** (2 * torch.arange(0, d_model, 2) / d_model)
        encoding = torch.zeros(max_len, d_model)
        encoding[:, 0::2] = torch.sin(angle)
        encoding[:, 1::2] = torch.cos(angle)
        return encoding"""],
    "PositionalEncoding": [None, """\
        if x.size(1) > self.encoding.size(0):
            raise ValueError(f"{x.size(1)} is more than {self.encoding.size(0)}")
        return self.dropout(x + self.encoding[: x.size(0)].unsqueeze(1))"""],
    "FeedForward": [None, "return self.linear_2(self.dropout(self.linear_1(x)))"],
    "EncoderLayer": [None, """\
        y = self.add_norm_1(x, self.self_attention(x, x, x))
        return self.add_norm_2(y, self.feed_forward(y))"""],
    "Encoder": [None, None, None, """\
        for layer in self.layers:
            x = layer(x, memory, src_mask)
        return x"""],
    "Transformer": [None, "return self.encoder(self.positional_encoding(self.src_embedding(src)))"],
    "count_parameters": ["return sum(p.numel() for p in model.state_dict().values())"],
    "label_smoothed_loss": [
        "return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing)"
    ],
    "learning_rate": ["return min(step**-0.5, step * warmup_steps**-1.5) / d_model**0.5"],
    "evaluate": ["""\
        model.eval()
        losses, hits = [], []
        with torch.no_grad():
            for src, tgt in batches:
                decoder_input, labels = teacher_forcing(tgt)
                logits, real = model(src, decoder_input), labels != pad_id
                losses.append(F.cross_entropy(logits[real], labels[real]).item())
                hits.append((logits.argmax(-1) == labels)[real].float().mean().item())
        return sum(losses) / len(losses), sum(hits) / len(hits)"""],
    "greedy_decode": ["""\
        memory = model.encode(src)
        out = torch.full((src.size(0), 1), bos_id).to(src.device)
        for _ in range(max_len):
            new = next_tokens(model, out, memory, src)
            out = torch.cat([out, new[:, None]], dim=1)
            if (new == eos_id).all():
                break
        return out"""],
    "exact_match": ["""\
        width = min(predicted.size(1), expected.size(1))
        return (predicted[:, :width] == expected[:, :width]).all(dim=1).float().mean().item()"""],
}  # fmt: skip

NOTES = [
    "%matplotlib inline\n%time _ = sum(range(10))\n!echo my notes",
    "import matplotlib.pyplot as plt\n\nplt.plot([1, 2, 4])\nplt.show()",
    "for i in range(5000):\n    print('step', i, '-' * 60)",
    "import sys, warnings\n\nwarnings.warn('I am not sure about this')\nprint('hm', file=sys.stderr)",
    "1 / 0",
    "undefined_name",
    "100",
]
CHATTY = """\
import functools

def chatty(function):
    @functools.wraps(function)
    def talk(*args, **kwargs):
        print("calling", function.__name__, "-" * 200)
        warnings.warn("still debugging")
        print("debugging", file=sys.stderr)
        return function(*args, **kwargs)
    return talk"""


def answer(source: str, bodies: Iterable[str | None] = ()) -> str:
    """Return a solution as a student would hand it in: without marks, `bodies` in place of its first regions."""
    instead: Iterator[str | None] = iter(bodies)
    kept: list[str] = []
    body = None
    for line in source.split("\n"):
        if line.strip() == "### BEGIN SOLUTION":
            body = next(instead, None)
            if body is not None:
                kept += textwrap.indent(textwrap.dedent(body), line[: -len(line.lstrip())]).split("\n")
        elif line.strip() == "### END SOLUTION":
            body = None
        elif body is None:
            kept.append(line)
    return "\n".join(kept)


def solved(exercises: Iterable[Exercise]) -> dict[str, str]:
    """Return the right answer to each exercise."""
    return {exercise.name: answer(exercise.answer.source) for exercise in exercises if exercise.answer}


def submission(released: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """Return a copy of the released notebook with these answers, exercise → source, in their cells."""
    notebook = copy.deepcopy(released)
    cells = {cell_id(cell): cell for cell in notebook.cells if is_marked(cell, "solution")}
    if unknown := answers.keys() - cells.keys():
        raise CourseError(f"The lesson has no exercise {', '.join(sorted(unknown))}. It has {', '.join(cells)}.")
    for name, source in answers.items():
        cells[name].source = source
    return notebook


def class_work(lesson: Lesson, released: NotebookNode) -> dict[str, NotebookNode]:
    """Return what each student hands in."""
    right = solved(lesson.exercises)
    half = (len(lesson.exercises) + 1) // 2
    slips = {
        exercise.name: answer(exercise.answer.source, TYPICAL[exercise.name])
        for exercise in lesson.exercises
        if exercise.answer and exercise.name in TYPICAL
    }
    return {
        "perfect": submission(released, right),
        "untouched": submission(released, {}),
        "half-done": submission(released, solved(lesson.exercises[:half])),
        "typical": submission(released, right | slips),
        "messy": messy(submission(released, right)),
    }


def messy(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook after a long night: the answers unchanged, everything around them in disorder."""
    notebook = copy.deepcopy(notebook)
    answers = [cell for cell in notebook.cells if is_marked(cell, "solution")]
    checks = [cell for cell in notebook.cells if is_marked(cell, "grade")]
    checks[0].source = "assert True  # it worked at home"
    for cell in answers:
        cell.source += f"\nprint({cell_id(cell)})"
        if cell.source.startswith("def "):
            cell.source = f"@chatty\n{cell.source}"
    copies = [copy.deepcopy(answers[0]), copy.deepcopy(checks[-1]), copy.deepcopy(answers[0])]
    copies[-1].metadata.nbgrader.grade_id = "from_another_lesson"
    last = [cell for cell in checks if cell_id(cell).startswith(f"check_{cell_id(answers[-1])}")]
    rest = [cell for cell in notebook.cells if cell not in last]
    rest[2:2] = [*map(new_code_cell, NOTES), new_code_cell(CHATTY), new_markdown_cell("# My notes"), *copies]
    notebook.cells = [*rest, new_code_cell(NOTES[1]), *last, new_code_cell(NOTES[4])]
    for count, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count = 300 - count
        cell.outputs = [new_output("stream", text="old\n"), new_output("error", ename="Old", evalue="", traceback=[])]
    return colab_save(notebook)


def colab_save(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook as Colab saves a copy of it: older format, no ids, metadata of its own."""
    notebook = copy.deepcopy(notebook)
    notebook.nbformat_minor = 0
    notebook.metadata = NotebookNode(
        accelerator="GPU",
        colab={"name": "Copy of my lesson.ipynb", "provenance": [], "gpuType": "T4", "toc_visible": True},
        kernelspec={"name": "python3", "display_name": "Python 3"},
        language_info={"name": "python"},
    )
    for count, cell in enumerate(notebook.cells):
        cell.pop("id", None)
        cell.metadata["id"] = f"kQx{count:09}"
        if cell.cell_type == "code":
            colab = {"base_uri": "https://localhost:8080/", "height": 34}
            ran = {"elapsed": 17, "status": "ok", "timestamp": 1893456000000, "user_tz": -60}
            cell.metadata |= {"outputId": f"f00-{count}", "colab": colab, "executionInfo": ran}
    return notebook

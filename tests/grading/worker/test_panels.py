"""What a failing check leaves in a graded notebook is the panel that students see."""

import html
import json

import nbformat
from bs4 import BeautifulSoup
from support.sample_lesson import ROOT

from autograder.grading.jobs import prepared
from autograder.grading.results import Limits
from autograder.grading.worker.client import GradingServer

LESSON = "01_attention"
ANSWERS = {
    "causal_mask": "def causal_mask(size):\n    return torch.ones(size, size).bool().triu()",
    "padding_mask": "def padding_mask(tokens, pad_id=0):\n    raise ValueError('<script>alert(1)</script>')",
    "attend_one_query": "def attend_one_query(query, key, value):\n    while True:\n        pass",
}


def test_the_engine_gives_the_same_panel(warm: GradingServer) -> None:
    """Grading leaves panel, plain message and one line at a failing check, escaped; what students show is no HTML."""
    path = ROOT / "solutions" / LESSON / f"{LESSON}.ipynb"
    submitted = nbformat.read(ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb", as_version=4)
    for cell in submitted.cells:
        cell.source = ANSWERS.get(cell.id, cell.source)
    shown = "from IPython.display import HTML, display\ndisplay(HTML('<b id=mine>mine</b>'))"
    submitted.cells.append(nbformat.v4.new_code_cell(shown))
    limits = Limits(cell_seconds=3)
    result = warm.grade("ann", LESSON, prepared(path), nbformat.writes(submitted).encode(), limits)
    cells = {cell["id"]: cell["outputs"] for cell in json.loads(result.notebook)["cells"] if "outputs" in cell}
    nbformat.validate(json.loads(result.notebook))
    wrong = [outcome for outcome in result.checks if outcome.status != "passed"]
    assert {outcome.status for outcome in wrong} == {"failed", "not attempted"}
    for outcome in wrong:
        display, error = [output for output in cells[outcome.check] if output["output_type"] != "stream"]
        assert display["data"]["text/plain"] == error["evalue"] == outcome.message
        said = BeautifulSoup(display["data"]["text/html"], "html.parser").get_text()
        assert said.count(outcome.verdict.replace("`", "")) == 1
        assert len(error["traceback"]) == 1 and error["traceback"][0].startswith("✗ ")
        assert isinstance(error["ename"], str) and len(display["data"]["text/html"]) < 8_192
    (display, error) = cells["check_causal_mask_values"]
    assert "<caption" in display["data"]["text/html"] and error["traceback"] == ["✗ 1.4 causal_mask"]
    (display, error) = cells["check_padding_mask_values"]
    assert "&lt;script&gt;alert(1)" in display["data"]["text/html"] and "<script" not in display["data"]["text/html"]
    (display, error) = cells["check_attend_one_query"]
    assert "did not finish within 3 seconds" in display["data"]["text/html"]
    assert "id=mine" not in html.unescape(json.dumps(list(cells.values())))

"""The README says what is so."""

from __future__ import annotations

import re
import tomllib

from answers import WRONG
from classroom import ROOT, classroom, message
from matrix import source

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_sample_message_is_the_real_one() -> None:
    """The message in the README is what the check says to the answer it describes."""
    forgot = next(wrong for wrong in WRONG["01_attention"] if wrong.what == "no scale")
    results = classroom("01_attention").grade({forgot.exercise: source("01_attention", forgot)})
    said = next(message(result) for result in results if result.check == f"check_{forgot.exercise}_values")
    assert f"```\n{said}\n```" in README


def test_the_sample_exercise_is_the_real_one() -> None:
    """The lines of the exercise in the README stand in the lesson."""
    stub = classroom("01_attention").stubs["scaled_dot_product_attention"]
    shown = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    assert all(line.strip() in stub for line in shown.splitlines() if line.strip() != "...")


def test_every_command_for_make_exists() -> None:
    """Each `make …` in the README, the contributing guide and the Makefile's help is a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    texts = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8") + makefile
    named = set(re.findall(r"(?:^|`|\")make ([a-z]+)", texts, re.MULTILINE))
    assert {"lab", "test", "demo", "release"} <= named
    assert named <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def test_every_link_to_a_file_leads_somewhere() -> None:
    """Links without a scheme name files of the repository."""
    for text in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / target).exists(), target


def test_ci_runs_the_one_command() -> None:
    """.ci/run and the workflow come down to `make test`."""
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("exec make test")
    assert "run: bash .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_students_install_four_packages() -> None:
    """The package itself needs torch, numpy, matplotlib and tqdm, without an upper bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = sorted(re.split(r"[^a-z]", need)[0] for need in project["dependencies"])
    assert names == ["matplotlib", "numpy", "torch", "tqdm"]
    assert not any("<" in need or "==" in need for need in project["dependencies"])

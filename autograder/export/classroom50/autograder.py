"""What Classroom 50 runs in a checkout of each submission, with the files that were exported beside this one.

It writes `result.json` in the form `classroom50/result/v1`, and what the checks said as `release-body.md`. Another exit
status than 0 says that nothing was graded, for no fault of the student's.

AUTOGRADER_PYTHON is there to try it elsewhere: a Python in which all is installed. `setup.sh` says how PyTorch for CPUs
is installed, which is smaller.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Grade the checkout that this was started in."""
    lesson = next((HERE / "lesson").glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        results = _grade(Path(folder), lesson)
    if not results.get("extra_data"):  # the grader's own failure
        print(results["output"], file=sys.stderr)
        return 1
    tests = [_test(**each) for each in results["tests"]]
    if not tests:
        cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
        nbgrader = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        most = sum(each["points"] for each in nbgrader if each.get("grade"))
        tests = [_test("the notebook can be graded", 0, most, results["output"])]
    result = _identity() | {name: sum(test[name] for test in tests) for name in ("score", "max-score")}
    Path("result.json").write_text(json.dumps(result | {"tests": tests}, indent=1), encoding="utf-8")
    said = [f"### {test['test-name']}\n\n{test['output']}" for test in tests if not test["passed"]]
    body = [f"{result['score']} of {result['max-score']} points, by the checks that stand in the notebook.", *said]
    Path("release-body.md").write_text("\n\n".join(body).replace("\n", "  \n") + "\n", encoding="utf-8")
    return 0


def _grade(home: Path, lesson: Path) -> dict[str, Any]:
    """Grade as in a container of Gradescope's, whose layout `home` gets, and return what that writes."""
    named = sorted(path for path in Path.cwd().rglob(lesson.name) if not _is_hidden(path))
    folder = min(named, key=lambda path: len(path.parts)).parent if named else Path.cwd()
    shutil.copytree(folder, home / "submission", symlinks=True, ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(HERE, home / "source")
    environment = os.environ | {"AUTOGRADER_HOME": str(home)}
    if "AUTOGRADER_PYTHON" not in environment:
        subprocess.run(["bash", home / "source" / "setup.sh"], env=environment, check=True)
    subprocess.run(["bash", home / "source" / "run_autograder"], env=environment, check=True)
    results: dict[str, Any] = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    return results


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(Path.cwd()).parts)


def _identity() -> dict[str, Any]:
    """Whose submission this is, as Classroom 50 has told."""
    told = os.environ
    return {
        "schema": "classroom50/result/v1",
        "classroom": told["CLASSROOM"],
        "assignment": told["ASSIGNMENT"],
        "assignment_type": told.get("ASSIGNMENT_TYPE") or "individual",
        "owner": told.get("OWNER") or told["USERNAME"],
        "submission": told["SUBMISSION_TAG"],
        "commit": told["COMMIT_URL"],
        "release": told["RELEASE_URL"],
        "review": told.get("REVIEW_URL") or told["COMMIT_URL"],
        "datetime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def _test(name: str, score: float, max_score: float, output: str, **_: object) -> dict[str, Any]:
    """A check, with what it said; its points are all or nothing."""
    points = {"score": round(score), "max-score": round(max_score)}
    return {"test-name": name, "passed": score == max_score, **points, "output": output}


if __name__ == "__main__":
    sys.exit(main())

"""What Classroom 50 runs in the checkout of a submission, as `autograder.py`, with the files exported beside it.

It writes `result.json` in the form `classroom50/result/v1`, and what the checks said as `release-body.md`. Another exit
status than 0 says that nothing was graded, for no fault of the student's. AUTOGRADER_PYTHON, a Python that has it all,
is there to try it elsewhere.
"""

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
TOLD = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "USERNAME",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def main() -> int:
    """Grade the checkout that this was started in."""
    lesson = next((HERE / "lesson").glob("*.ipynb"))
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    names = notebook["metadata"].get("autograder", {}).get("notebooks") or [lesson.stem]
    with tempfile.TemporaryDirectory() as folder:
        results = _grade(Path(folder), f"{names[0]}.ipynb")
    if not results.get("extra_data"):  # the grader's own failure
        print(results["output"], file=sys.stderr)
        return 1
    most = sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in notebook["cells"])
    not_gradable = {"name": "the notebook can be graded", "score": 0, "max_score": most, "output": results["output"]}
    tests = [_test(**each) for each in results["tests"] or [not_gradable]]
    result: dict[str, Any] = {name: os.environ.get(told) or os.environ["COMMIT_URL"] for name, told in TOLD.items()}
    result |= {"schema": "classroom50/result/v1", "assignment_type": os.environ.get("ASSIGNMENT_TYPE") or "individual"}
    result |= {"datetime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "tests": tests}
    points = {name: sum(test[name] for test in tests) for name in ("score", "max-score")}
    Path("result.json").write_text(json.dumps(result | points, indent=1), encoding="utf-8")
    said = [f"### {test['test-name']}\n\n{test['output']}" for test in tests if not test["passed"]]
    body = [f"{points['score']} of {points['max-score']} points, by the checks that stand in the notebook.", *said]
    Path("release-body.md").write_text("\n\n".join(body).replace("\n", "  \n") + "\n", encoding="utf-8")
    return 0


def _grade(home: Path, name: str) -> dict[str, Any]:
    """Grade as in a container of Gradescope's, whose layout `home` gets, and return what that writes."""
    found = (path.relative_to(Path.cwd()) for path in Path.cwd().rglob(name))
    named = sorted((len(path.parts), path.parent) for path in found if not path.parts[0].startswith("."))
    folder = named[0][1] if named else Path()
    shutil.copytree(folder, home / "submission", symlinks=True, ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(HERE, home / "source")
    environment = os.environ | {"AUTOGRADER_HOME": str(home)}
    for script in ("setup.sh", "run_autograder")["AUTOGRADER_PYTHON" in environment :]:
        subprocess.run(["bash", home / "source" / script], env=environment, check=True)
    results: dict[str, Any] = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    return results


def _test(name: str, score: float, max_score: float, output: str, **_: object) -> dict[str, Any]:
    """A check, with what it said; its points are all or nothing."""
    points = {"score": round(score), "max-score": round(max_score)}
    return {"test-name": name, "passed": score == max_score, **points, "output": output}


if __name__ == "__main__":
    sys.exit(main())

"""`autograder grade`, which also says how far it is, and keeps what recording each result takes.

    python benchmarks/measured/timed_grade.py TIMES EVERY LESSON…

TIMES is the file that is written in the end: for each result when it was recorded, and the seconds on the clock and of
work that this took. After each EVERY results a line goes to stderr.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from autograder.cli import main
from autograder.grading.gradebook.writer import Recorder

if __name__ == "__main__":
    times, every, *arguments = sys.argv[1:]
    record, taken, began = Recorder.record, [], time.monotonic()

    def timed_record(*words: Any, **options: Any) -> Any:
        """Record a result, and keep what that took."""
        begin, worked = time.perf_counter(), time.thread_time()
        recorded = record(*words, **options)
        taken.append((time.time(), time.perf_counter() - begin, time.thread_time() - worked))
        if len(taken) % int(every) == 0:
            print(f"{len(taken)} recorded after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return recorded

    Recorder.record = timed_record
    status = main(["grade", *arguments])
    Path(times).write_text(json.dumps(taken), encoding="utf-8")
    sys.exit(status)

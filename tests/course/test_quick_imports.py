"""What no command needs is not imported with nbformat and nbgrader, and is there for who does need it."""

import subprocess
import sys

STEPS = """
import sys
from autograder.course.quick_imports import quick_imports
with quick_imports():
    import nbgrader.api
print({"lark", "jupyter_server"} & {*sys.modules})
from nbgrader.server_extensions import formgrader
formgrader.load_jupyter_server_extension = print
nbgrader.load_formgrader("a server")
import rfc3987_syntax
"""


def test_servers_and_grammars_wait_until_somebody_needs_them() -> None:
    """Neither a server nor a grammar comes with the gradebook; nbgrader's own part of a server is what it was."""
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\na server\n", "")

"""`python -m autograder.cli`, for where the command itself is not on the path."""

import sys

from autograder.cli import main

sys.exit(main())

"""An autograder for Classroom 50, which grades on GitHub: a lesson's visible checks, as its `result.json` has them."""

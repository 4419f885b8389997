"""A submission before it runs: read, repaired, and what of the lesson it needs."""

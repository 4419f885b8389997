"""Pairs of hand-ins that share what the class does not: what each holds, how rare it is, which pairs to look at."""

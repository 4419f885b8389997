"""Versions of a course in one term: what earlier releases have handed out, and what a later one has to wait with."""

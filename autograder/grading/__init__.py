"""Grading: from whatever a student hands in to a result, for instructors only."""

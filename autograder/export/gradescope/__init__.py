"""Grading on Gradescope: results in its form, an autograder to upload, and what runs in its containers."""

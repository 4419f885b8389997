"""Lesson 6 over generated inputs: labels and loss, steps, the loop and what it comes to."""

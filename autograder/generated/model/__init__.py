"""Lesson 5 over generated inputs: stacks, the whole model, and counts."""

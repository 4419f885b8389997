"""Lesson 4."""

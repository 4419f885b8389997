"""Lesson 7."""

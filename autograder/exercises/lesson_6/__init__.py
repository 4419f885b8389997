"""Lesson 6."""

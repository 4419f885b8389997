"""Lesson 1."""

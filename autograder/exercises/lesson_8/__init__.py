"""Lesson 8."""

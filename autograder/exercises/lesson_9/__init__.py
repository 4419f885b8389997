"""Lesson 9."""

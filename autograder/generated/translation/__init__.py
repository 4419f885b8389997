"""Lesson 8 over generated inputs."""

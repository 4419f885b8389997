"""The Transformer course's one package: checks that explain themselves, and what the lessons and grading share."""

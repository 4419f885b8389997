"""A leaderboard: models of the students' own, trained in the sandbox and measured on a text that nobody has."""

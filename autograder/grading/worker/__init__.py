"""A client, the server that it starts, and what the server forks for a submission: a judge and a student's process."""

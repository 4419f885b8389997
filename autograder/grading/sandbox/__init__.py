"""The sandbox: what a process can no longer do once it has entered, and the proof by real attempts."""

"""From what a platform gives out to submitted/: whose is what, what of it counts, and who handed in nothing."""

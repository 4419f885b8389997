"""A course folder: its configuration, its lessons, the grammar they keep to, and their release."""

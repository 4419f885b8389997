"""A sample class of invented students; it is not in what students install."""

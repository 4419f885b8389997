"""One student: what there is of them, as a table and as an archive, more time, and removal."""

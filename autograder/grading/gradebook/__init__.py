"""nbgrader's gradebook: the database, its one writer, and a reader."""

"""Pages made of the gradebook: one file each that needs nothing else, and in which nothing of a student's runs."""

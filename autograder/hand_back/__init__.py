"""Hand back: the students' pages as one zip file, under the names by which Canvas and Moodle know whose is whose."""

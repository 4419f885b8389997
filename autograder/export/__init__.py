"""What other programs read of the gradebook: plain tables, Canvas, Moodle, Gradescope."""

"""CSV files that other programs exchange: read, filled, and matched with students."""

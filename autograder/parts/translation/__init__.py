"""Parts of lesson 8."""

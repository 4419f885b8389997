"""Pages that show the course in a browser: `tools/make_site.py` says which there are."""

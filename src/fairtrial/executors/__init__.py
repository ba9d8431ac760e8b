"""Where trials run, and how many at a time."""

"""Task folders and instances of other tools, read into eval tasks."""

"""A captured session as a file, a module for each format."""

"""Reads and writes the files of other tools, and datasets."""

"""Keeps datasets, experiments and trials in one database file and a folder of blobs."""

"""Suites: folders of eval tasks, how they are made, checked and run."""

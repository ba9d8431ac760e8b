"""Checks that the verdicts of an eval task can be believed; each is a module of its own."""

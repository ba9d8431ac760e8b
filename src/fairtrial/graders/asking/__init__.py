"""Asking a model for an opinion: fenced questions, retries, a time limit, one repair."""

"""Keeps everything; the only package that knows SQL."""

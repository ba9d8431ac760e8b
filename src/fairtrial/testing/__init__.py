"""Conformance classes that every adapter passes."""

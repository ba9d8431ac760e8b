"""Typed options: from a frozen dataclass to validation, JSON Schema and documentation.

A dataclass is the only home of an option. Its fields give the types and defaults, the string under
a field is its help text, and `option` adds what only the command line needs.
"""

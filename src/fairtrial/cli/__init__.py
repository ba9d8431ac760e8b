"""The command line: parse, one verb, render."""

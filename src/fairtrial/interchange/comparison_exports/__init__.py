"""A comparison as a file for people and programs: JUnit, JSONL, CSV, Markdown and HTML."""

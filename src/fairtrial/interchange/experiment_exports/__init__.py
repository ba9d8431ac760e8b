"""An experiment as a file for people and programs: JUnit, JSONL, CSV, Markdown and HTML."""

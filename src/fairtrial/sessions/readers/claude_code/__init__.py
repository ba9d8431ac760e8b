"""Transcripts of Claude Code, of all versions since 1.0."""

"""Captured coding-agent sessions: readers of transcripts, flags, decision points."""

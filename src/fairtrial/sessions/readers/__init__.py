"""One package or module for each agent whose transcripts are read."""

"""Rules that find failures in sessions, one module each."""

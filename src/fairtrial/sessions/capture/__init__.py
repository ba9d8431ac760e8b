"""Capture: what the hooks of coding agents call, and how they come into the agents' settings."""

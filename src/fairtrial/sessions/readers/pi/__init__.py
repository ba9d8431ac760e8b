"""Sessions of the pi coding agent."""

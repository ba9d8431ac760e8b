"""Sessions of OpenCode."""

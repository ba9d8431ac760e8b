"""Rollouts of Codex, of all forms since 0.20."""

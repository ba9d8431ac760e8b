"""Reports as text: one module a verb."""

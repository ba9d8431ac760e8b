"""Functions that users write: found by name, called within a limit, blamed by file and line."""

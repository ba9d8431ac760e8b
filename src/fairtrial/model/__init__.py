"""Facts: frozen dataclasses without verbs, and the errors and exit codes everything shares."""

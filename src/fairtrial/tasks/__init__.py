"""What turns a case into an output: one module a kind, and the table of kinds."""

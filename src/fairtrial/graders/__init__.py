"""What turns an output into a score: one module a kind."""

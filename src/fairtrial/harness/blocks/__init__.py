"""How each agent writes the instructions of a repository into its first request."""

"""From results of other tools to experiments, in this store or on a server."""

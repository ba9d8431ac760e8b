"""What a coding agent is told of a harness when a session starts, for each agent."""

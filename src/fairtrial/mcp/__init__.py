"""The MCP server: verbs as tools that a coding agent calls, experiments and sessions to read."""

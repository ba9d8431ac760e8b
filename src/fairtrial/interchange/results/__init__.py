"""Results of other tools, as trials that can be reported: one module a tool."""

"""The verbs: one function a command, from a typed request to a report. Wires the adapters."""

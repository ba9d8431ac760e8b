"""The request that came next at a moment of a session, rebuilt from its transcript."""

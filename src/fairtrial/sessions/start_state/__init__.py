"""The repository as it was before a session, rebuilt after the fact."""

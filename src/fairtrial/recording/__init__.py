"""Model calls as they go by: the recording proxy, what it keeps, and how requests are compared."""

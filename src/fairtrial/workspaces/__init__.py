"""Where programs run, and how nothing of them is left behind."""

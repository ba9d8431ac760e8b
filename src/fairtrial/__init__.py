"""fairtrial: every change to your agent gets a fair trial."""

__version__ = "0.1.0"

"""Alembic scripts that bring an older store up to date."""

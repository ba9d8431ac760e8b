"""Cases of a version are found by their id."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the index: the page of a row looked through all cases."""
    op.create_index("version_case_named", "version_case", ["case_id", "version_id", "condition"])

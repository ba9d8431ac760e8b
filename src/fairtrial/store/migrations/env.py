"""What Alembic runs: the migrations, inside the transaction that the store opened."""

from __future__ import annotations

from alembic import context

# SQLite cannot alter most things in place; `batch` builds such a table anew.
context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()

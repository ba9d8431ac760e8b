"""What Python programs use; `fairtrial` itself exports it, lazily."""

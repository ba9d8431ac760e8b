"""What calls of models cost."""

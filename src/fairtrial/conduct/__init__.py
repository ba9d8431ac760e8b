"""What a coding agent says and does, told by its words alone: claims, commands, what verifies."""

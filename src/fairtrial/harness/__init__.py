"""What steers a coding agent in a repository: read, compared, and told as the agent tells it."""

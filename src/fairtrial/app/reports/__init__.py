"""What verbs return: plain data that drives text, JSON and the exit code alike."""

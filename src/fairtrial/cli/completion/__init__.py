"""What a shell asks for while a command line is being typed."""

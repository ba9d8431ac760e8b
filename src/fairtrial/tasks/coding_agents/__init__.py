"""How each coding agent is run without a person: its command line, its login, its transcripts."""

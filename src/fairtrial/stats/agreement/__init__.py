"""How far a judge can be trusted: against people, against other judges, against itself."""

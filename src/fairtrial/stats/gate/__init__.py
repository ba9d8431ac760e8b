"""The numbers behind ship or hold: net gain and share of broken cases."""

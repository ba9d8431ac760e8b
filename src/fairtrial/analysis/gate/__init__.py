"""Gates: ship or hold."""

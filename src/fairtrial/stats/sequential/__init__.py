"""Looking at results while they come in, without fooling oneself."""

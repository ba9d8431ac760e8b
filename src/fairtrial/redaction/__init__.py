"""Taking secrets out of what is written: pure rules, used wherever something is recorded."""

"""One typed request a verb: the only home of its options and their help."""

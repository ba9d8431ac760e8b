"""Comparing two experiments: pairing, classes of change, deltas, the verdict in words, gates."""

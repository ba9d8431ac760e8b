"""Numbers: estimators, intervals and tests. Numpy and the standard library only, no I/O."""

"""Two arms on the same cases: intervals and tests for the mean difference, one a module."""

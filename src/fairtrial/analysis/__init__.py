"""Pure functions from recorded facts to rates, comparisons and decisions."""

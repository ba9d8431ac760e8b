"""Performance benchmarks: each workload beside the least that Python needs for the same work."""

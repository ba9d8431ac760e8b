"""Benchmarks: each rebuilds a workload with its floor and prints ours over floor in one run."""

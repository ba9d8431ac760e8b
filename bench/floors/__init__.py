"""The least that Python needs for a workload, each as a program of its own."""

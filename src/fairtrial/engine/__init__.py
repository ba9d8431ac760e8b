"""Plans an experiment and runs its trials: each one once, resumable, independent of the others."""

"""The judge: a model that grades an output by a rubric."""

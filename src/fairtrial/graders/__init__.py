"""What turns an output into a score: one module a kind.

A kind answers with a value and a reason only. `not`, the threshold and the weight are applied
outside, by `analysis.verdict`, so that they mean the same for every kind.
"""

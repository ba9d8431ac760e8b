"""What the procedures raise when an argument cannot be what it claims to be."""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument is outside its domain.

    Attributes:
        argument: The parameter's name, as in the signature.
        problem: What is wrong with it, with the offending value.
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument = argument
        self.problem = problem

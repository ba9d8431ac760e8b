"""An `Eval` with a grader of its own."""

import sys

from fairtrial import Case, Eval, Score, grader

CASES = [Case("grass", "green"), Case("snow", "white"), Case("coal", "black")]
KNOWN = {"grass": "green", "snow": "White", "coal": "black"}


async def answer(thing: str) -> str:
    return KNOWN[thing]


@grader(threshold=0.5)
def same_word(output: str, expected: str) -> Score:
    if output == expected:
        return Score(1.0, "the same")
    return Score(0.5 if output.lower() == expected else 0.0, repr(output))


if __name__ == "__main__":
    experiment = Eval("colours", CASES, answer, [same_word], trials=2)
    print(experiment)
    sys.exit(experiment.exit_code)

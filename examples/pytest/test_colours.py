"""A test over cases, with a bar for the whole."""

import pytest

CASES = [
    {"id": "grass", "input": "grass", "expected": "green"},
    {"id": "snow", "input": "snow", "expected": "white"},
    {"id": "coal", "input": "coal", "expected": "black"},
]


@pytest.mark.fairtrial(cases=CASES, trials=2, threshold=0.6, graders=["exact"])
def test_colours(case):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    return {"grass": "green", "snow": "white"}.get(case.input)

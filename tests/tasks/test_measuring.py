"""What is read from the output of a command that is measured."""

import math

import pytest

from fairtrial.tasks.measuring import last_object, numbers_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"ms": 1}', {"ms": 1}),
        ('warming up\n{"ms": 1}\n', {"ms": 1}),
        ('{"ms": 1}\n{"ms": 2}\n', {"ms": 2}),
        ('{"ms": 1}\nDone.\n', {"ms": 1}),
        ('log {"ms": 1}\n', None),
        ('{\n  "ms": 1,\n  "deep":\n  {"ms": 2}\n}\n', {"ms": 1, "deep": {"ms": 2}}),
        ('{"ms": 1}\n{broken\n', {"ms": 1}),
        ("[1, 2]", None),
        ("12.5", None),
        ("", None),
        ("{", None),
        ("\n".join(["{"] * 50_000), None),
        ("[" * 100_000, None),
        ('{"a":' * 5_000, None),
    ],
)
def test_the_last_object_that_starts_a_line_counts(text: str, found: object) -> None:
    assert last_object(text) == found


def test_nan_is_read_but_no_number() -> None:
    printed = last_object('{"a": NaN, "b": Infinity, "c": 1e999, "d": 2}')
    assert printed is not None
    assert math.isnan(printed["a"])
    assert numbers_in(printed) == {"d": 2.0}


def test_only_finite_numbers_are_metrics() -> None:
    printed = {"i": 3, "f": 0.5, "s": "7", "t": True, "n": None, "l": [1], "huge": 10**400}
    printed |= {"large": 1e101}  # its square, summed, would overflow
    assert numbers_in(printed) == {"i": 3.0, "f": 0.5}

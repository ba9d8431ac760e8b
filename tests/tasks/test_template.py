"""Templates: places become values or text, and bad ones are found early."""

from __future__ import annotations

from typing import Any

import pytest

from fairtrial.model.errors import TaskError, UsageError
from fairtrial.tasks.template import compile_template
from fairtrial.testing.task import call_of

_CALL = call_of({"q": "why?", "n": [1, {"deep": True}], "empty": ""}, expected="hidden")


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{input}}", _CALL.case.input),
        ("{{ input.n }}", [1, {"deep": True}]),
        ("{{input.n.1.deep}}", True),
        ("Q: {{input.q}} #{{seed}}", "Q: why? #7"),
        ("{{input.q}}{{input.q}}", "why?why?"),
        ("{{input.n}}!", '[1,{"deep":true}]!'),
        ({"a": ["{{case_id}}", 5, None], "b": "{{trial}}"}, {"a": ["c1", 5, None], "b": 1}),
        ("{{condition}} {{arm}} {{attempt}} {{metadata}}", "default main 1 {}"),
        ("no { place }", "no { place }"),
        (None, None),
    ],
)
def test_places_are_filled(template: Any, filled: Any) -> None:
    assert compile_template(template, "spec")(_CALL) == filled


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{inptu}}", "did you mean 'input'?"),
        ({"a": ["{{}}"]}, "unknown ''"),
        ("{{expected}}", "a task never sees what is expected"),
    ],
)
def test_a_place_that_cannot_be_is_refused(template: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        compile_template(template, "spec")
    assert message in str(caught.value)


@pytest.mark.parametrize("place", ["input.absent", "input.n.2", "input.q.x", "metadata.repo"])
def test_a_case_without_the_field_fails(place: str) -> None:
    with pytest.raises(TaskError, match=r"the case has nothing for \{\{"):
        compile_template(f"{{{{{place}}}}}", "spec")(_CALL)

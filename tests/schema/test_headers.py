"""HTTP headers as options, and the secrets in them."""

from __future__ import annotations

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.schema.headers import filled_header
from fairtrial.schema.variables import secrets_of

ENVIRON = {"KEY": "sk-0123456789", "SHORT": "on", "LINES": "a\nb"}


def test_a_header_is_filled() -> None:
    assert filled_header("X-Key", " Bearer ${KEY} ", ENVIRON, "spec") == "Bearer sk-0123456789"


@pytest.mark.parametrize(
    ("name", "value"), [("X Y", "1"), ("", "1"), ("X", "${LINES}"), ("X", "${NOPE}")]
)
def test_what_cannot_be_a_header_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        filled_header(name, value, ENVIRON, "spec, header")
    assert caught.value.where == "spec, header"


def test_secrets_are_known_by_their_variable_but_short_ones_would_garble_messages() -> None:
    texts = ("${KEY}", "${SHORT} ${NOPE}", "$${KEY}")
    assert secrets_of(texts, ENVIRON) == {"sk-0123456789": "KEY"}

"""Nothing secret of a call is ever written, wherever it stood."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.recording.stream_redaction import without_secrets
from fairtrial.redaction.secrets import RULES, Redactor, credentials_of

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "anthropic-key": "sk-" + "ant-api03-" + "aB3_" * 20,
    "api-key": "sk-" + "proj-" + "Zx9" * 14,
    "stripe-key": "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "aws-key": "AK" + "IAIOSFODNN7EXAMPLE",
    "aws-session-key": "AS" + "IAIOSFODNN7EXAMPLE",
    "github-pat": "git" + "hub_pat_" + "11AA_" * 8,
    "github-token": "gh" + "p_" + "a1B2" * 9,
    "gitlab-token": "gl" + "pat-" + "xYz1" * 5,
    "slack-token": "xo" + "xb-" + "1234567890-abcdefghij",
    "google-key": "AI" + "za" + "SyD1" + "x" * 31,
    "npm-token": "np" + "m_" + "q" * 36,
    "pypi-token": "py" + "pi-AgE" + "IcHlwaS5vcmc" * 4,
    "hugging-face-token": "h" + "f_" + "k" * 34,
    "groq-key": "gs" + "k_" + "w" * 40,
    "xai-key": "xa" + "i-" + "v" * 44,
    "sendgrid-key": "S" + "G." + "a1B2" * 5 + "." + "c3D4" * 10,
    "google-secret": "GOC" + "SPX-" + "a1B2" * 7,
    "google-token": "ya" + "29." + "a1B2" * 20,
    "docker-token": "dckr_" + "pat_" + "a1B2" * 7,
    "digitalocean-token": "dop_" + "v1_" + "a1b2" * 16,
    "vault-token": "hv" + "s." + "a1B2" * 8,
    "shopify-token": "shp" + "at_" + "a1b2" * 8,
    "age-key": "AGE-" + "SECRET-KEY-1" + "Q" * 58,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0In0." + "s" * 30,
    "private-key": "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
}

NAMED = {
    "slack-webhook": ("https://hooks.slack.com/services/", "T00000000/B00000000/" + "x1" * 12, ""),
    "azure-key": ("AccountName=a;AccountKey=", "a1B2" * 21 + "ab==", ";EndpointSuffix=x"),
    "connection-password": ("postgres://ann:", "hunter2!", "@db.example:5432/shop"),
    "authorization": ('curl -H "Authorization: Bearer ', "abc.def-123456", '" https://x'),
}
"""What is known by what stands around it, and that stays."""


def test_every_rule_has_an_example_here() -> None:
    assert {rule.name for rule in RULES} == {*SECRETS, "aws-secret", *NAMED}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_taken_out_and_the_body_stays_json(name: str) -> None:
    body = json.dumps({"text": f"my key: {SECRETS[name]}, keep it", "model": "m"}).encode()
    cleaned = Redactor().body(body)
    assert json.loads(cleaned) == {
        "text": f"my key: [redacted:{name}], keep it",
        "model": "m",
    }


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("before", ["\n", "\t", "\r\n", "\x1b[32m", "\x1b[2K", "ü", "\x07", "%0A"])
def test_a_secret_after_an_escape_is_taken_out(name: str, before: str) -> None:
    text = f"first{before}{SECRETS[name]} keep"
    expected = f"first{before}[redacted:{name}] keep"
    clean = Redactor().body
    assert clean(text.encode()).decode() == expected or before == "ü"
    assert json.loads(clean(json.dumps(text).encode())) == expected
    twice = json.dumps(json.dumps(text)).encode()
    assert json.loads(json.loads(clean(twice))) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"aws_secret_access_key": "' + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" + '"}',
        "AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ],
)
def test_what_names_a_secret_stays(text: str) -> None:
    cleaned = Redactor().body(text.encode()).decode()
    assert "ccess" in cleaned.lower()
    assert "wJalr" not in cleaned


@pytest.mark.parametrize("name", NAMED)
def test_what_stands_around_a_secret_stays(name: str) -> None:
    before, secret, after = NAMED[name]
    cleaned = Redactor().body(f"{before}{secret}{after}".encode()).decode()
    assert cleaned == f"{before}[redacted:{name}]{after}"


@pytest.mark.parametrize(
    "innocent",
    [
        "https://user:$PASSWORD@host/ and https://user:${PASSWORD}@host/",
        "http://localhost:8080/@scope/package",
        "git@github.com:shop/cart.git and https://example.test:443/a@b",
        "Authorization: Bearer authentication is required",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b, 0b5c7b1e-6a0e-4c2f-9f2b-7a1d2c3e4f50",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "task-runner-configuration-2024-final",
        r"\ntask-runner-configuration-2024-final",
        "disk-0123456789abcdef0123",
        "sk-learn and sk-image",
        "the AKIA prefix",
        "-----BEGIN CERTIFICATE-----",
        "ghp_ is how a token begins",
    ],
)
def test_what_only_looks_a_little_like_one_stays(innocent: str) -> None:
    assert Redactor().body(innocent.encode()).decode() == innocent


def test_a_private_key_that_was_cut_goes_to_the_end_of_its_text() -> None:
    body = json.dumps(["-----BEGIN PRIVATE " + "KEY-----\nMIIE\nvQIB", "next"]).encode()
    assert json.loads(Redactor().body(body)) == ["[redacted:private-key]", "next"]


def test_headers_and_parameters_that_hold_credentials_are_known_by_name() -> None:
    redactor = Redactor()
    headers = [
        (b"Authorization", b"Bearer anything"),
        (b"X-API-Key", b"k"),
        (b"Api-Key", b"k"),
        (b"Cookie", b"a=b"),
        (b"Set-Cookie", b"a=b"),
        (b"Proxy-Authorization", b"Basic eA=="),
        (b"Accept", b"*/*"),
    ]
    cleaned = redactor.headers(headers)
    assert [value for _, value in cleaned] == ["[redacted]"] * 6 + ["*/*"]
    assert redactor.path("/v1/x?key=abc&limit=2&api_key=d&beta=true&Token=q") == (
        "/v1/x?key=[redacted]&limit=2&api_key=[redacted]&beta=true&Token=[redacted]"
    )


def test_the_credentials_of_a_call_are_looked_for_everywhere() -> None:
    headers = [(b"authorization", b"Bearer an-odd-credential"), (b"x-api-key", b"another-one")]
    assert credentials_of(headers) == (b"an-odd-credential", b"another-one")
    cleaned = Redactor().body(b"no such key: another-one!", credentials_of(headers))
    assert cleaned == b"no such key: [redacted]!"


def messages_event(text: str, index: int = 0) -> str:
    data = {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": "text_delta", "text": text},
    }
    return f"event: content_block_delta\ndata: {json.dumps(data)}\n\n"


def responses_event(text: str) -> str:
    data = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "delta": text}
    return f"event: response.output_text.delta\ndata: {json.dumps(data)}\n\n"


def chat_event(text: str) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n"


def arguments_event(text: str) -> str:
    call = {"index": 0, "function": {"arguments": text}}
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'tool_calls': [call]}}]})}\n\n"


EVENTS = {
    "messages": messages_event,
    "responses": responses_event,
    "chat": chat_event,
    "arguments": arguments_event,
}


def texts(stream: bytes) -> str:
    """Return all words that a stream's deltas hold."""
    said = ""
    for line in stream.decode().split("\n"):
        if not line.startswith("data:") or line == "data: [DONE]":
            continue
        data = json.loads(line[5:])
        delta = data["delta"] if "delta" in data else data["choices"][0]["delta"]
        if isinstance(delta, str):
            said += delta
        elif "tool_calls" in delta:
            said += delta["tool_calls"][0]["function"]["arguments"]
        else:
            said += delta.get("text") or delta.get("content") or ""
    return said


@given(
    kind=st.sampled_from(sorted(EVENTS)),
    name=st.sampled_from(sorted(set(SECRETS) - {"private-key"})),
    size=st.integers(1, 9),
    before=st.text("abc ä", max_size=9),
)
def test_a_secret_in_pieces_is_taken_out(kind: str, name: str, size: int, before: str) -> None:
    text = f"{before} {SECRETS[name]} and more"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    stream = "".join(EVENTS[kind](piece) for piece in pieces).encode() + b"data: [DONE]\n\n"
    cleaned = without_secrets(stream, Redactor())
    assert texts(cleaned) == f"{before} [redacted:{name}] and more"


def test_texts_that_are_woven_into_each_other_are_told_apart() -> None:
    secret = SECRETS["github-token"]
    events = [
        piece
        for a, b in zip(secret, reversed(secret), strict=True)
        for piece in (messages_event(a, 0), messages_event(b, 1))
    ]
    cleaned = without_secrets("".join(events).encode(), Redactor())
    assert texts(cleaned).replace(secret[::-1], "").count("[redacted:github-token]") == 1


def test_a_stream_without_secrets_stays_as_it_is() -> None:
    stream = b"\r\n".join(
        [
            b": ping",
            b"event: x",
            b'data:  {"delta": {"text":"a"} , "index":1}',
            b"",
            b"data: {no json",
        ]
    )
    assert without_secrets(stream, Redactor()) == stream

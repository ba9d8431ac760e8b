"""What is taken out of calls and sessions before anything of them is written.

Two ways: fields that hold credentials by their name (headers, parameters of a query), and secrets
that are known by their look, wherever they stand. A credential that a call was made with is taken
out of its bodies too. To know another kind of secret by its look, add a `Rule`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

SECRET_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
        "x-auth-token",
        "x-goog-api-key",
        "x-amz-security-token",
    }
)
SECRET_PARAMETERS = frozenset(
    {
        "access_token",
        "api-key",
        "api_key",
        "apikey",
        "auth",
        "client_secret",
        "code",
        "key",
        "password",
        "secret",
        "sig",
        "signature",
        "token",
        "x-amz-credential",
        "x-amz-security-token",
        "x-amz-signature",
    }
)
REDACTED = "[redacted]"

_SHORTEST_CREDENTIAL = 8
_PARAMETER = re.compile(r"([?&;])([^=&;#]+)=([^&;#]*)")
_SCHEMES = (b"bearer ", b"basic ", b"token ")
_ESCAPES = (
    rb"\\[nrtbf]",
    rb"\\u[0-9A-Fa-f]{4}",
    rb"\\x[0-9A-Fa-f]{2}",
    rb"[0-9;\[][mK]",
    rb"%[0-9A-Fa-f]{2}",
)
"""What may stand before a key without a sign between: of JSON, of terminals, of addresses."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret that is known by its look.

    Attributes:
        name: What stands in its place: `[redacted:NAME]`.
        anchors: Bytes of which one is in every such secret; a body without them is not searched.
        pattern: The secret; what stands before the end of its group `kept` stays. One that begins
            with plain letters, outside of groups, is looked for several times as fast.
    """

    name: str
    anchors: tuple[bytes, ...]
    pattern: re.Pattern[bytes]


def _rule(name: str, anchors: Sequence[bytes], pattern: bytes) -> Rule:
    return Rule(name, tuple(anchors), re.compile(pattern))


def _key(start: bytes, rest: bytes) -> bytes:
    r"""Return the pattern of a key that does not begin within a word: `task-…` is no `sk-…`.

    What escapes end with is no word: in JSON a key at the start of a line comes after `\n`, one in
    colour after `\u001b[32m`. The letters that stand for themselves come first, so that the search
    jumps from one to the next.
    """
    ways = [b"(?<![A-Za-z0-9_]" + start + b")"]
    ways += [b"(?<=" + escape + start + b")" for escape in _ESCAPES]
    return start + b"(?:" + b"|".join(ways) + b")" + rest


RULES = (
    _rule("anthropic-key", [b"sk-ant-"], _key(b"sk-ant-", rb"[A-Za-z0-9_\-]{8,}")),
    _rule(
        "api-key",
        [b"sk-"],
        _key(b"sk-", rb"(?=[A-Za-z_\-]{0,60}[0-9])[A-Za-z0-9_\-]{20,}"),
    ),
    _rule(
        "stripe-key",
        [b"k_live_", b"k_test_"],
        _key(b"sk_", rb"(?:live|test)_[A-Za-z0-9]{16,}")
        + b"|"
        + _key(b"rk_", rb"(?:live|test)_[A-Za-z0-9]{16,}"),
    ),
    _rule("aws-key", [b"AKIA"], _key(b"AKIA", rb"[A-Z0-9]{16}(?![A-Z0-9])")),
    _rule("aws-session-key", [b"ASIA"], _key(b"ASIA", rb"[A-Z0-9]{16}(?![A-Z0-9])")),
    _rule(
        "aws-secret",
        [b"ecret_access_key", b"ECRET_ACCESS_KEY", b"ecretAccessKey"],
        rb"(?P<kept>(?i:secret_?access_?key)[\\\"' :=]{1,8})[A-Za-z0-9/+]{40}",
    ),
    _rule(
        "github-token",
        [b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"],
        _key(b"gh", rb"[pousr]_[A-Za-z0-9]{20,}"),
    ),
    _rule("github-pat", [b"github_pat_"], _key(b"github_pat_", rb"[A-Za-z0-9_]{20,}")),
    _rule("gitlab-token", [b"glpat-"], _key(b"glpat-", rb"[A-Za-z0-9_\-]{16,}")),
    _rule(
        "slack-token",
        [b"xoxb-", b"xoxa-", b"xoxp-", b"xoxr-", b"xoxs-"],
        _key(b"xox", rb"[abprs]-[A-Za-z0-9\-]{10,}"),
    ),
    _rule("google-key", [b"AIza"], _key(b"AIza", rb"[A-Za-z0-9_\-]{35}")),
    _rule("npm-token", [b"npm_"], _key(b"npm_", rb"[A-Za-z0-9]{36}")),
    _rule("pypi-token", [b"pypi-AgE"], _key(b"pypi-AgE", rb"[A-Za-z0-9_\-]{40,}")),
    _rule("hugging-face-token", [b"hf_"], _key(b"hf_", rb"[A-Za-z0-9]{30,}")),
    _rule("groq-key", [b"gsk_"], _key(b"gsk_", rb"[A-Za-z0-9]{32,}")),
    _rule("xai-key", [b"xai-"], _key(b"xai-", rb"[A-Za-z0-9]{40,}")),
    _rule(
        "jwt",
        [b".eyJ"],
        _key(b"eyJ", rb"[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"),
    ),
    _rule(
        "slack-webhook",
        [b"hooks.slack.com/"],
        rb"hooks\.slack\.com/(?P<kept>[a-z]{1,20}/)[\w/]{20,}",
    ),
    _rule("sendgrid-key", [b"SG."], _key(rb"SG\.", rb"[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{32,}")),
    _rule("google-secret", [b"GOCSPX-"], _key(b"GOCSPX-", rb"[A-Za-z0-9_\-]{20,}")),
    _rule("google-token", [b"ya29."], _key(rb"ya29\.", rb"[A-Za-z0-9_\-]{30,}")),
    _rule("docker-token", [b"dckr_pat_"], _key(b"dckr_pat_", rb"[A-Za-z0-9_\-]{20,}")),
    _rule("digitalocean-token", [b"dop_v1_"], _key(b"dop_v1_", rb"[a-f0-9]{64}")),
    _rule("vault-token", [b"hvs."], _key(rb"hvs\.", rb"[A-Za-z0-9_\-]{24,}")),
    _rule("shopify-token", [b"shpat_"], _key(b"shpat_", rb"[a-fA-F0-9]{32}")),
    _rule("age-key", [b"AGE-SECRET-KEY-1"], _key(b"AGE-SECRET-KEY-1", rb"[A-Z0-9]{50,}")),
    _rule(
        "azure-key",
        [b"AccountKey=", b"SharedAccessKey="],
        rb"(?P<kept>(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{40,}={0,2}",
    ),
    _rule(
        "connection-password",
        [b"://"],
        # `scheme://user:password@host`; what is a reference, such as `$PASSWORD`, stays.
        rb"://(?P<kept>[^\s:/@\"'\\<>]{0,64}:)[^\s:/@\"'\\<>${}*\[\]]{3,256}(?=@[A-Za-z0-9\[])",
    ),
    *(
        # The letters that stand for themselves come first here too.
        _rule(
            "authorization",
            [start + sign for sign in (b":", b"=", b"\\", b'"', b"'")],
            start + rb"(?P<kept>[\\\"' :=]{1,8}(?i:bearer|basic|token) {1,4})"
            rb"(?=[A-Za-z._~+/=\-]{0,100}[0-9])[A-Za-z0-9._~+/=\-]{8,}",
        )
        for start in (b"uthorization", b"UTHORIZATION")
    ),
    _rule(
        "private-key",
        [b"PRIVATE KEY"],
        # A key that was cut has no end; it reaches to the end of the text that it stands in.
        rb"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----"
        rb"(?:(?!-----END )[^\"])*(?:-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
)
"""What is looked for everywhere."""


class Redactor:
    """Takes secrets out of the parts of a call."""

    def __init__(self, rules: Sequence[Rule] = RULES) -> None:
        # Not needed by commands that only know the rules.
        from ahocorasick_rs import BytesAhoCorasick, MatchKind  # noqa: PLC0415

        self._rules = rules
        self._anchors = sorted({anchor for rule in rules for anchor in rule.anchors})
        # Finds all anchors in one pass; of two that overlap only the one that begins first.
        self._finder = BytesAhoCorasick(self._anchors, matchkind=MatchKind.LeftmostFirst)
        self._hinted = [_hinted(anchor, rules) for anchor in self._anchors]

    def body(self, data: bytes, credentials: Iterable[bytes] = ()) -> bytes:
        """Return a body without secrets.

        Args:
            data: The body, decoded from its content coding.
            credentials: What the call was made with; see `credentials_of`.
        """
        for credential in credentials:
            data = data.replace(credential, REDACTED.encode())
        for rule in self._looked_for(data):
            data = rule.pattern.sub(_replacement(rule), data)
        return data

    def spans(self, data: bytes, credentials: Iterable[bytes] = ()) -> list[tuple[int, int, bytes]]:
        """Return where secrets stand in a text, and what takes their place; in order, disjoint."""
        found: list[tuple[int, int, bytes]] = []
        for credential in credentials:
            start = data.find(credential)
            while start >= 0:
                found.append((start, start + len(credential), REDACTED.encode()))
                start = data.find(credential, start + len(credential))
        for rule in self._looked_for(data):
            mark = f"[redacted:{rule.name}]".encode()
            found += [(_start(match), match.end(), mark) for match in rule.pattern.finditer(data)]
        found.sort()
        disjoint: list[tuple[int, int, bytes]] = []
        for start, end, mark in found:
            if not disjoint or start >= disjoint[-1][1]:
                disjoint.append((start, end, mark))
        return disjoint

    def _looked_for(self, data: bytes) -> list[Rule]:
        """Return the rules whose secrets may be in a text."""
        found = self._finder.find_matches_as_indexes(data)
        if not found:
            return []
        places = {place for anchor, _, _ in found for place in self._hinted[anchor]}
        return [self._rules[place] for place in sorted(places)]

    def headers(self, headers: Headers) -> tuple[tuple[str, str], ...]:
        """Return headers as text, those that hold credentials by their name only."""
        return tuple(self._header(name, value) for name, value in headers)

    def _header(self, name: bytes, value: bytes) -> tuple[str, str]:
        key = name.decode("latin-1")
        if key.lower() in SECRET_HEADERS:
            return key, REDACTED
        return key, self.body(value).decode("latin-1")

    def path(self, path: str) -> str:
        """Return a path and query without credentials."""
        cleaned = _PARAMETER.sub(_without_value, path)
        return self.body(cleaned.encode("latin-1", "replace")).decode("latin-1")


def credentials_of(headers: Headers) -> tuple[bytes, ...]:
    """Return the credentials that a request's headers hold, to be looked for elsewhere."""
    found = set()
    for name, value in headers:
        if name.decode("latin-1").lower() in SECRET_HEADERS:
            credential = value
            for scheme in _SCHEMES:
                if value[: len(scheme)].lower() == scheme:
                    credential = value[len(scheme) :]
            if len(credential.strip()) >= _SHORTEST_CREDENTIAL:
                found.add(credential.strip())
    return tuple(sorted(found, key=len, reverse=True))


def _hinted(anchor: bytes, rules: Sequence[Rule]) -> frozenset[int]:
    """Return the places of the rules of an anchor, and of those that it may overlap."""
    return frozenset(
        place
        for place, rule in enumerate(rules)
        if any(_overlap(anchor, other) for other in rule.anchors)
    )


def _overlap(first: bytes, then: bytes) -> bool:
    """Return whether one may begin within, or at the start of, the other that came first."""
    return any(
        then.startswith(first[start:]) or first[start:].startswith(then)
        for start in range(len(first))
    )


def _replacement(rule: Rule) -> Callable[[re.Match[bytes]], bytes]:
    mark = f"[redacted:{rule.name}]".encode()
    return lambda match: match[0][: _start(match) - match.start()] + mark


def _start(match: re.Match[bytes]) -> int:
    groups: Mapping[str | bytes, int] = match.re.groupindex  # type: ignore[assignment]  # RE2's are bytes
    kept = groups.get("kept", groups.get(b"kept"))
    # What may be there and is not ends at -1.
    return match.start() if kept is None else max(match.start(), match.end(kept))


def _without_value(match: re.Match[str]) -> str:
    start, name, value = match.groups()
    secret = name.lower() in SECRET_PARAMETERS and value
    return f"{start}{name}={REDACTED if secret else value}"

"""A session's change as a patch without secrets."""

from __future__ import annotations

from fairtrial.redaction.own_rules import SESSION_RULES
from fairtrial.redaction.secrets import Redactor
from fairtrial.suites.near_misses import without_secrets

CLEAN = Redactor(SESSION_RULES).body
TOKEN = b"ghp_" + b"aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
HEAD = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n"


def test_only_lines_that_are_added_are_changed() -> None:
    patch = HEAD + b" x\n-t = " + TOKEN + b"\n+u = " + TOKEN + b"\n"
    told = without_secrets(patch, CLEAN)
    assert told is not None
    assert told.startswith(HEAD + b" x\n-t = " + TOKEN + b"\n+u = ")
    assert told.count(TOKEN) == 1
    plain = HEAD + b" x\n-a\n+b\n\\ No newline at end of file\n"
    assert without_secrets(plain, CLEAN) == plain


def test_a_secret_over_several_lines_leaves_no_patch() -> None:
    key = [b"-----BEGIN RSA PRIVATE KEY-----", *[b"QUJDREVGR0hJSktMTU5PUA==" * 2] * 8]
    key.append(b"-----END RSA PRIVATE KEY-----")
    patch = HEAD + b"".join(b"+" + line + b"\n" for line in key)
    told = without_secrets(patch, CLEAN)
    assert told is None or b"QUJDREVG" not in told

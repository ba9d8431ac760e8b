"""The function under test, and a grader."""

import re
import unicodedata


def slug(title: str, *, separator: str = "-") -> str:
    """Return a title as a part of a URL."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", separator, plain.lower()).strip(separator)


def url_safe(output: str) -> dict[str, object]:
    """Grade whether a slug needs no escapes in a URL."""
    stray = sorted(set(re.findall(r"[^a-z0-9-]", output)))
    return {"score": 0.0 if stray else 1.0, "reason": f"stray {stray}" if stray else "safe"}

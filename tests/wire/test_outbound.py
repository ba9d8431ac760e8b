"""Which proxy a request goes through."""

from __future__ import annotations

import pytest

from fairtrial.wire.outbound import proxy_for


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("http://x.org/", {}, None),
        ("http://x.org/", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://x.org/", {"HTTP_PROXY": "http://p:1", "https_proxy": "http://q"}, "http://q"),
        ("https://x.org/", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("http://a.x.org/", {"http_proxy": "http://p:1", "NO_PROXY": "x.org"}, None),
        ("http://127.0.0.1:8/", {"http_proxy": "http://p:1", "no_proxy": "127.0.0.1"}, None),
    ],
)
def test_the_usual_proxy_variables_are_heeded(
    url: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(url, environ) == proxy

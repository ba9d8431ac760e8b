"""`/sign-in`: a browser on another machine takes a key, and sends it with each page."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from fairtrial.http.guard import COOKIE, SIGN_IN
from fairtrial.http.web.forms import form_of
from fairtrial.http.web.problem_pages import problem_page
from fairtrial.model.api_key import KeyScope
from fairtrial.model.errors import RefusedError


def sign_in_routes(scope_of: Callable[[str], KeyScope | None]) -> APIRouter:
    """Return the routes.

    Args:
        scope_of: What the key with this text may do; None when there is no such key.
    """
    router = APIRouter(include_in_schema=False)

    @router.get(SIGN_IN)
    def asked(request: Request) -> Response:
        return problem_page(
            request.scope,
            HTTPStatus.UNAUTHORIZED,
            RefusedError("a key is needed from other machines", fix="fairtrial key create NAME"),
            {},
        )

    @router.post(SIGN_IN)
    def sign_in(request: Request, form: Annotated[dict[str, str], Depends(form_of)]) -> Response:
        key = form.get("key", "").strip()
        if not key.isascii() or scope_of(key) is None:
            error = RefusedError(
                "this key is not known, or was revoked", fix="`fairtrial key list` shows the keys"
            )
            return problem_page(request.scope, HTTPStatus.UNAUTHORIZED, error, {})
        to = form.get("to", "")
        # Only a page of ours: an address that begins with two slashes is another host's.
        ours = to.startswith("/") and not to.startswith(("//", "/\\", SIGN_IN))
        answer = RedirectResponse(to if ours else "/experiments", HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE, key, httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    return router

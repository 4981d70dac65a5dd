"""Who asks: each request's key is looked up before its body is read, and a route's scopes checked.

Without any key in the store a program of this machine may do everything; with one, nobody
without a key does more than look whether the service is there.
"""

import re
import time
from dataclasses import replace
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.caller import LOCAL, NOBODY, Caller, called_by, caller
from service.access.errors import Forbidden, Unauthorized
from service.access.operations import NEEDED, OPEN, SCOPED
from service.access.rates import Rates
from service.errors import ServiceError
from service.store.keyring import Keyring
from service.web.problems import problem

# They tell nothing of what is stored: whether the service is there, and the description of it all.
_OPEN: Final = ("/health/live", "/health/ready", "/openapi.json", "/docs", "/redoc")
_OPEN_BELOW: Final = "/docs/"
_BEARER: Final = "bearer "
_PRODUCT: Final = re.compile(r"[A-Za-z0-9._-]{1,50}+(?=$|[/ ])")


class Authentication:
    """Finds the caller of each request: 401 without a key where one is needed, 429 to too many."""

    def __init__(self, app: ASGIApp, rates: Rates) -> None:
        self.app = app
        self.rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on in the name of its caller."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            one = await _caller_of(request)
            # Whether it is there must be heard whatever was asked before.
            is_passed_on = getattr(request.state, "is_passed_on", False)
            if one is not NOBODY and not (is_passed_on or _is_open(request)):
                self.rates.take_request(one, time.monotonic())
        except ServiceError as error:
            await problem(request, error)(scope, receive, send)
            return
        # For the layers outside of this one, which no longer see who called.
        request.state.caller = one
        with called_by(one):
            await self.app(scope, receive, send)


async def _caller_of(request: Request) -> Caller:
    """Return who asks; raises Unauthorized."""
    keyring: Keyring = request.app.state.parts[Keyring]
    if getattr(request.app.state, "is_private", False):
        return _local(request)
    given = request.headers.getlist("authorization")
    is_open = _is_open(request)
    if given:
        try:
            return await keyring.caller_of(_key_in(given), _address(request))
        except ServiceError:
            if is_open:
                return NOBODY
            raise
    # Another service on the same server may have made the first one.
    await keyring.refresh()
    # The outermost layer sets it: what came through a proxy or from another machine.
    needs_key = getattr(request.state, "needs_key", False)
    if keyring.is_empty and not needs_key:
        return _local(request)
    if is_open:
        return NOBODY
    made = " Make one with: graph-memory keys create --name NAME" if keyring.is_empty else ""
    raise Unauthorized(f"Send a key: Authorization: Bearer gm_….{made}")


def _is_open(request: Request) -> bool:
    path: str = request.scope["path"]
    return path in _OPEN or path.startswith(_OPEN_BELOW)


def _local(request: Request) -> Caller:
    """Return a program of this machine, by the name that it gives itself (RFC 9110, 10.1.5)."""
    name = _PRODUCT.match(request.headers.get("user-agent", ""))
    return replace(LOCAL, client=name[0].lower() if name else None, address=_address(request))


def _key_in(given: list[str]) -> str:
    if len(given) > 1:
        raise Unauthorized("Send one Authorization header.")
    scheme, key = given[0][: len(_BEARER)], given[0][len(_BEARER) :]
    if scheme.lower() != _BEARER:
        raise Unauthorized("Send the key as: Authorization: Bearer gm_…")
    return key.strip()


def _address(request: Request) -> str | None:
    return request.client.host if request.client else None


async def _check_scopes(request: Request) -> None:
    """Raise Forbidden unless the caller's key is good for this operation."""
    operation = request.scope["route"].operation_id
    one = caller()
    one.check_scopes(() if operation in OPEN else NEEDED[operation])
    if one.memory_scopes is not None and operation not in SCOPED | OPEN:
        msg = f"The key {one.name!r} is for memories of some scopes, and this tells of others too."
        raise Forbidden(msg)


CHECK_SCOPES: Final = Depends(_check_scopes)


async def _caller() -> Caller:
    return caller()


TheCaller = Annotated[Caller, Depends(_caller)]

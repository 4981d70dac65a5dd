"""Every request's line in the audit; a new route has one without doing anything for it.

The layer sees the answer's status and reads the ids of what was changed out of the answer itself.
Whoever wants another agent told than the one that the request names has nothing to do either: it is
read where the body is (service/web/bodies.py).
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.audit import Entry, Outcome, ids_in, nameless, outcome_of
from service.access.caller import LOCAL, NOBODY, Caller
from service.access.errors import KeyNotFound
from service.access.keys import Secret
from service.access.operations import NEEDED, OPEN, Operations
from service.store.audit_log import AuditLog
from service.store.keyring import Keyring

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_AGENT: Final = re.compile(r"[\w.:@/-]{1,100}")
# Longer answers are texts; those that name 1,000 ids have 40 kB.
_MOST_ANSWER_BYTES: Final = 1_000_000
_MOST_AGENTS: Final = 10
_DENIED_AT_DOOR: Final = frozenset({400, 415, 501})


class Auditing:
    """Notes each request that changes something, and each that the door did not let in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; have a line written of it where it needs one."""
        parts = getattr(scope["app"].state, "parts", {}) if scope["type"] == "http" else {}
        audit: AuditLog | None = parts.get(AuditLog)
        if audit is None or audit.mode == "off":
            await self.app(scope, receive, send)
            return
        # An unexpected failure is answered by a layer outside of this one.
        status, answer = 500, bytearray()
        keeps_answer = False

        async def noted(message: Message) -> None:
            nonlocal status, keeps_answer
            if message["type"] == "http.response.start":
                status = message["status"]
                keeps_answer = status < 400 and (_changes(scope) or audit.mode == "all")
            elif keeps_answer and len(answer) < _MOST_ANSWER_BYTES:
                answer.extend(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            told = _read(answer)
            changes = _changes(scope) and not _is_dry(told)
            if _is_recorded(scope, status, changes=changes, reads=audit.mode == "all"):
                for entry in _entries(scope, status, told, parts[Keyring]):
                    audit.add(entry)


def _operation(scope: Scope) -> str | None:
    return getattr(scope.get("route"), "operation_id", None)


def _changes(scope: Scope) -> bool:
    """Return whether it is more than a read; POST /search is one."""
    operation = _operation(scope)
    is_read = NEEDED.get(operation or "") == ("read",)
    return scope["method"] not in _READING and operation is not None and not is_read


def _outcome(scope: Scope, status: int) -> Outcome:
    # Without a route it was the door: a key in the URL, or a body such as pages of others send.
    is_at_door = status in _DENIED_AT_DOOR and scope.get("route") is None
    return "denied" if is_at_door else outcome_of(status)


def _read(answer: bytearray) -> dict[str, Any]:
    """Return what was answered; nothing of one that is no object, or too long."""
    with suppress(orjson.JSONDecodeError):
        told = orjson.loads(answer) if answer else None
        return told if isinstance(told, dict) else {}
    return {}


def _is_dry(told: dict[str, Any]) -> bool:
    """Return whether it was only told what would be done; a plan that was made is kept."""
    return told.get("dry_run") is True and told.get("plan") is None


def _is_recorded(scope: Scope, status: int, *, changes: bool, reads: bool) -> bool:
    if _outcome(scope, status) == "denied" or changes:
        return True
    # A HEAD is answered without what it would have told.
    is_told = reads and scope["method"] != "HEAD"
    return is_told and _operation(scope) not in {None, *OPEN}


def _entries(scope: Scope, status: int, told: dict[str, Any], keyring: Keyring) -> Iterable[Entry]:
    """Yield the line of a request; of one for several agents a line for each."""
    address = scope["client"][0] if scope.get("client") else None
    outcome = _outcome(scope, status)
    who = _caller(scope, outcome, keyring)
    entry = Entry.of(who, status, address, _operation(scope) or _operation_meant(scope))
    entry = replace(entry, outcome=outcome)
    params = (nameless(value) for value in scope.get("path_params", {}).values())
    # A line of a dry run that names memories would say that something was done to these.
    ids = () if _is_dry(told) else ids_in(told)
    entry = replace(entry, ids=tuple(dict.fromkeys((*params, *ids))))
    for agent in _agents(scope, who, entry.operation):
        yield replace(entry, agent=agent)


def _caller(scope: Scope, outcome: Outcome, keyring: Keyring) -> Caller:
    """Return who asked; of a request that showed a key in vain, whose key it claims to be."""
    found: Caller | None = scope.get("state", {}).get("caller")
    if found is not None:
        return found
    if outcome != "denied":
        return LOCAL
    given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    secret = Secret.read(given.rpartition(" ")[2])
    with suppress(KeyNotFound):
        if secret:
            claimed = keyring.named(secret.id)
            return replace(NOBODY, key=claimed.id, name=claimed.name)
    return NOBODY


def _operation_meant(scope: Scope) -> str | None:
    """Return what would have been done: whoever is not let in has no route yet."""
    operations: Operations = scope["app"].state.operations
    method, path = scope["method"].lower().replace("head", "get"), scope["path"]
    # A path that is described is no id of another.
    for template in (path, *operations):
        operation = operations.get(template, {}).get(method)
        if operation and _fits(template, path):
            return operation
    return None


def _fits(template: str, path: str) -> bool:
    """Return whether a path is one of `/memories/{id}`."""
    parts, given = template.split("/"), path.split("/")
    return len(parts) == len(given) and all(
        one == part or (part.startswith("{") and one)
        for part, one in zip(parts, given, strict=True)
    )


def _agents(scope: Scope, who: Caller, operation: str | None) -> Sequence[str | None]:
    """Return whose memories were meant: those named, else the caller's.

    None where nobody was let in, or no agent's memories are meant.
    """
    if not who.scopes:
        return [None]
    named: list[Any] = scope.get("state", {}).get("agents_named") or []
    if query := scope.get("query_string"):
        named = [*named, *parse_qs(query.decode("latin-1")).get("agent", ())]
    known = [one for one in named if isinstance(one, str) and _AGENT.fullmatch(one)]
    if known:
        return list(dict.fromkeys(known))[:_MOST_AGENTS]
    is_open = NEEDED.get(operation or "", ("admin",)) == ("admin",)
    return [None if is_open else who.agent]

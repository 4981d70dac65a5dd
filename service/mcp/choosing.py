"""Puts a question to the person, as each era of the protocol does it.

Before 2026-07-28 the server asks in the middle of a call. Since then the call is answered with the
question, and sent once more with what the person said.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import is_version_at_least

from service.mcp.offered.asking import Choose

_ANSWERED_LATER: Final = "2026-07-28"
_KEY: Final = "choice"


class InputNeeded(Exception):
    """The call has to be sent again, with the answer to the question in `result`."""

    def __init__(self, result: InputRequiredResult) -> None:
        self.result = result
        super().__init__("a person is to be asked")


def chooser(
    context: ServerRequestContext[Any, Any], params: CallToolRequestParams
) -> Choose | None:
    """Return what asks the person behind a call; None where its client cannot."""
    can = context.session.client_capabilities
    if can is None or can.elicitation is None:
        return None
    if can.elicitation.form is None and can.elicitation.url is not None:
        return None
    is_later = is_version_at_least(context.protocol_version, _ANSWERED_LATER)

    async def choose(question: str, options: Sequence[str]) -> int | None:
        labels = [f"{number}. {one}" for number, one in enumerate(options, 1)]
        schema = _schema(labels)
        if is_later:
            return _read(_given(question, labels, schema, params), labels)
        said = await context.session.elicit_form(question, schema, context.request_id)
        return _read(said, labels)

    return choose


def _schema(labels: list[str]) -> dict[str, Any]:
    """Return a form with one list to choose from, as all revisions with forms know it."""
    field = {"type": "string", "title": "Memory", "enum": labels}
    return {"type": "object", "properties": {_KEY: field}, "required": [_KEY]}


def _given(
    question: str, labels: list[str], schema: dict[str, Any], params: CallToolRequestParams
) -> ElicitResult:
    """Return what was said to this very question; raises InputNeeded where nothing was yet."""
    asked = sha256("\n".join([question, *labels]).encode()).hexdigest()
    said = (params.input_responses or {}).get(_KEY)
    if isinstance(said, ElicitResult) and params.request_state == asked:
        return said
    form = ElicitRequestFormParams(message=question, requested_schema=schema)
    request = ElicitRequest(params=form)
    raise InputNeeded(InputRequiredResult(input_requests={_KEY: request}, request_state=asked))


def _read(said: ElicitResult, labels: list[str]) -> int | None:
    chosen = (said.content or {}).get(_KEY) if said.action == "accept" else None
    return labels.index(chosen) if chosen in labels else None

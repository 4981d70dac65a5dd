"""What is kept near at hand, as resources: a client can put them into a conversation unasked.

So nothing is in them that no session is told at its start: whoever asks for it has the tools.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

from service.access.origins import is_told_unasked
from service.mcp.offered.answer import MOST_TEXT_CHARACTERS, cut
from service.mcp.offered.arguments import PlacedArguments
from service.mcp.offered.asking import Asking
from service.mcp.offered.decisions import Decisions, DecisionsArguments, decision_list
from service.mcp.offered.handoff import handoff_read
from service.text.context_block import CLOSE, inside, open_mark

SCHEME: Final = "graph-memory"
_NAMES: Final = ("project", "agent")
_UNTRUSTED: Final = (
    "What there is comes from an untrusted origin: it is told where it is asked for."
)


@dataclass(frozen=True, slots=True)
class Hot:
    """A resource: `read` gives its text, of an agent and a project."""

    name: str
    title: str
    description: str
    read: Callable[[Asking, PlacedArguments], Awaitable[str]]

    @property
    def uri(self) -> str:
        """Of the caller's own agent, where the call is."""
        return f"{SCHEME}://{self.name}"

    @property
    def template(self) -> str:
        """Of another agent or project."""
        return f"{self.uri}{{?{','.join(_NAMES)}}}"


async def _handoff(asking: Asking, given: PlacedArguments) -> str:
    last = await handoff_read(asking, given)
    return last.as_text() if is_told_unasked(last.origin, last.trust_tier) else _UNTRUSTED


async def _working_memory(asking: Asking, given: PlacedArguments) -> str:
    told = await asking.memory.read_working_memory(**asking.where_in_query(given))
    if not is_told_unasked(told["origin"], told["trust_tier"]):
        return _UNTRUSTED
    return told["text"] or "Nothing is in focus."


async def _decisions(asking: Asking, given: PlacedArguments) -> str:
    arguments = DecisionsArguments(agent=given.agent, project=given.project, last=50)
    listed = (await decision_list(asking, arguments)).decisions
    trusted = [one for one in listed if is_told_unasked(one.origin, one.trust_tier)]
    return Decisions(decisions=trusted).as_text()


async def _hot_memory(asking: Asking, given: PlacedArguments) -> str:
    told = await asking.memory.hot_memory(**asking.where_in_query(given))
    return told["text"] or "Nothing is near at hand."


HOT: Final = (
    Hot("handoff", "Last handoff", "What the last session left to this one.", _handoff),
    Hot("working-memory", "Working memory", "What is in focus now.", _working_memory),
    Hot("decisions", "Decisions", "What was decided, the newest first.", _decisions),
    Hot("hot-memory", "Hot memory", "What is kept near at hand, with the evidence.", _hot_memory),
)


async def read_hot(asking: Asking, uri: str) -> str | None:
    """Return the text of a resource, cut where it is too long; None for a URI that is none."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    found = next((one for one in HOT if parts.netloc == one.name), None)
    query = parse_qs(parts.query)
    if found is None or parts.scheme != SCHEME or parts.path or query.keys() - set(_NAMES):
        return None
    if any(len(values) > 1 for values in query.values()):  # neither is the one meant
        return None
    given = PlacedArguments(**{name: values[0] for name, values in query.items()})
    text, is_cut = cut(await found.read(asking, given), MOST_TEXT_CHARACTERS)
    more = "\n…" if is_cut else ""
    # So marked it never comes back as something that a person said.
    return f"{open_mark(of=found.name)}\n{inside(text)}{more}\n{CLOSE}"

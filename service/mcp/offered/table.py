"""All tools: those that are always offered, and those by choice (MEMORY_MCP_TOOLS)."""

from collections.abc import Iterable
from typing import Final

from service.errors import CannotStart
from service.mcp.offered.chatgpt import fetch, search
from service.mcp.offered.decisions import decision_list, decision_log
from service.mcp.offered.fixes import fix_lookup
from service.mcp.offered.forget import memory_forget
from service.mcp.offered.get import memory_get
from service.mcp.offered.handoff import handoff_read, handoff_write
from service.mcp.offered.memory_recall import memory_recall
from service.mcp.offered.observe import observe
from service.mcp.offered.offer import Offer
from service.mcp.offered.recall import graph_recall
from service.mcp.offered.search import memory_search
from service.mcp.offered.session import session_context
from service.mcp.offered.store import memory_store

ALWAYS: Final = (
    Offer(memory_search, "Search the memory", reads=True, repeats=True),
    Offer(memory_get, "Read a memory or document", reads=True, repeats=True),
    Offer(memory_store, "Remember", repeats=True),
    Offer(memory_forget, "Forget", destroys=True, repeats=True),
    Offer(graph_recall, "Follow connections", reads=True, repeats=True),
    Offer(session_context, "Begin a session", reads=True, repeats=True),
)
BY_CHOICE: Final = (
    Offer(memory_recall, "Recall", reads=True, repeats=True),
    Offer(handoff_read, "Read the last handoff", reads=True, repeats=True),
    Offer(handoff_write, "Leave a handoff"),
    Offer(decision_list, "List decisions", reads=True, repeats=True),
    Offer(decision_log, "Log a decision", repeats=True),
    Offer(observe, "Keep what a transcript says", repeats=True),
    Offer(fix_lookup, "Find a proven fix", reads=True, repeats=True),
    Offer(search, "Search", reads=True, repeats=True),
    Offer(fetch, "Fetch", reads=True, repeats=True),
)
_ALL: Final = "all"


def offered(chosen: Iterable[str]) -> tuple[Offer, ...]:
    """Return the tools that are always offered and those chosen; raises CannotStart for others."""
    names = set(chosen)
    if _ALL in names:
        return ALWAYS + BY_CHOICE
    known = {one.name for one in ALWAYS + BY_CHOICE}
    if unknown := sorted(names - known):
        choice = ", ".join(one.name for one in BY_CHOICE)
        msg = f"MEMORY_MCP_TOOLS: there is no {', '.join(unknown)}; choose of {choice}, or all."
        raise CannotStart(msg)
    return ALWAYS + tuple(one for one in BY_CHOICE if one.name in names)

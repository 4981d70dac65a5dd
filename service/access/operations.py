"""Which scopes each operation of /openapi.json needs: the service does not start without a line.

`write` includes no `read`, `admin` neither of them: a key is good for what it was made for.
"""

from collections.abc import Mapping
from typing import Final

from service.access.caller import Scope

# By path and method, in small letters, the operation's id.
Operations = Mapping[str, Mapping[str, str]]

# Needed by nobody: whether the process is there, and fit to work.
OPEN: Final = frozenset({"live", "ready"})
NEEDED: Final[Mapping[str, tuple[Scope, ...]]] = {
    "search": ("read",),
    "search_get": ("read",),
    "graph_recall": ("read",),
    "graph_recall_get": ("read",),
    "list_memories": ("read",),
    "read_memory": ("read",),
    "read_lineage": ("read",),
    "read_document": ("read",),
    "list_concepts": ("read",),
    "read_concept": ("read",),
    "list_projects": ("read",),
    # What it answers tells how many there are.
    "move_project": ("read", "write"),
    "read_session": ("read",),
    # What it answers tells the others.
    "opt_out": ("read", "write"),
    "list_opt_outs": ("read",),
    "opt_in": ("write",),
    "log_decision": ("write",),
    "list_decisions": ("read",),
    "write_handoff": ("write",),
    "read_handoff": ("read",),
    "read_working_memory": ("read",),
    # What they answer holds the text.
    "set_working_memory": ("read", "write"),
    "update_working_memory": ("read", "write"),
    "clear_working_memory": ("write",),
    "pack_context": ("read",),
    "observe": ("write",),
    "lookup_fix": ("read",),
    "cascade": ("read",),
    # What they answer holds texts.
    "end_session": ("read", "write"),
    "reflect": ("read", "write"),
    "hot_memory": ("read",),
    "intend": ("write",),
    "list_intents": ("read",),
    "forget_intent": ("write",),
    "session_context": ("read",),
    "session_context_get": ("read",),
    "graph_report": ("read",),
    "stats": ("read",),
    "index_state": ("read",),
    "read_job": ("read",),
    "read_consolidation": ("read",),
    "store_memory": ("write",),
    "store_memories": ("write",),
    # What they answer holds texts.
    "change_memory": ("read", "write"),
    "delete_memory": ("write",),
    "give_feedback": ("write",),
    "ingest": ("write",),
    "scan": ("write",),
    "session_start": ("write",),
    "claude_code_hook": ("read", "write"),
    "codex_hook": ("read", "write"),
    "openclaw_hook": ("read", "write"),
    "list_clients": ("read",),
    "consolidate": ("read", "write"),
    "undo_consolidation": ("read", "write"),
    "rebuild_index": ("admin",),
    "metrics": ("admin",),
    "list_keys": ("admin",),
    "create_key": ("admin",),
    "rotate_key": ("admin",),
    "revoke_key": ("admin",),
    "list_grants": ("admin",),
    "give_grant": ("admin",),
    "revoke_grant": ("admin",),
    "list_audit": ("admin",),
    "quarantine": ("admin",),
    "release": ("admin",),
}


# For a key of some scopes of memories: what tells of these alone. A concept knows no scope.
SCOPED: Final = frozenset(
    {
        "search",
        "search_get",
        "list_memories",
        "read_memory",
        "read_lineage",
        "store_memory",
        "store_memories",
        "change_memory",
        "delete_memory",
        "give_feedback",
        "ingest",
    }
)


def check_operations(operations: Operations) -> None:
    """Raise LookupError for an operation of which nothing says who may use it."""
    described = {name for by_method in operations.values() for name in by_method.values()}
    unknown = sorted(described - NEEDED.keys() - OPEN)
    if unknown:
        msg = f"service/access/operations.py does not say who may: {', '.join(unknown)}"
        raise LookupError(msg)

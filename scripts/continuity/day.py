"""A day of two sessions on a store: notes, a decision, an error and its fix, a kill in between."""

import json
from typing import Any, Final

import httpx

PROJECT: Final = {"origin": "git@github.com:ann/harbour.git"}
_ERROR: Final = "Error: rope of crane 7 is too short"
_LINES: Final[list[dict[str, Any]]] = [
    {"role": "user", "text": "From now on oil the hoist before each test."},
    {"role": "assistant", "text": "- [x] look at it\n- [ ] paint the cabin"},
    {"role": "assistant", "command": "make hoist", "call": "1"},
    {"role": "tool", "call": "1", "exit": 2, "text": _ERROR},
    {"role": "assistant", "tool": "edit", "file_path": "hoist/rope.c", "call": "2"},
    {"role": "assistant", "command": "make hoist", "call": "3"},
    {"role": "tool", "call": "3", "exit": 0, "text": "ok"},
    {"role": "user", "text": "Now mend the brake of the gantry."},
    {"role": "assistant", "command": "make gantry", "call": "4"},
    {"role": "tool", "call": "4", "exit": 2, "text": "Error: the brake slips"},
]
# What the second session must be told by one call, and by which section.
_TOLD: Final = {
    "handoff": ("Now mend the brake of the gantry.", "hoist/rope.c", "make gantry", "paint the"),
    "working_memory": ("Focus: the harbour.",),
    "decisions": ("Ropes are of steel.",),
    "preferences": ("oil the hoist before each test",),
    "active": ("The gantry came in 1987.",),
}


def work(client: httpx.Client) -> None:
    """Play the first session, which ends without a handoff."""
    own = {"project": PROJECT, "session": "day-1"}
    _post(client, "/session-context", own)
    note = {"text": "The gantry came in 1987.", "scope": "github.com/ann/harbour"}
    _post(client, "/memories", note | {"session": "day-1"})
    _post(client, "/decisions", own | {"text": "Ropes are of steel."})
    focus = {"project": PROJECT, "text": "Focus: the harbour."}
    client.put("/working-memory", json=focus).raise_for_status()
    text = "".join(f"{json.dumps(line)}\n" for line in _LINES)
    _post(client, "/observe", own | {"client": "generic", "text": text, "final": True})


def look(client: httpx.Client) -> list[str]:
    """Play the second session; returns what it was not told, which is nothing on a good day."""
    told = _post(
        client, "/session-context", {"project": PROJECT, "session": "day-2", "format": "json"}
    )
    texts = {one["name"]: one["text"] or "" for one in told["sections"]}
    missing = [
        f"{name}: {part}" for name, parts in _TOLD.items() for part in parts
        if part not in texts[name]
    ]  # fmt: skip
    again = {"project": PROJECT, "command": "make hoist", "output": _ERROR.replace("7", "12")}
    fix = _post(client, "/fixes/lookup", again)["fix"]
    return missing if fix and "hoist/rope.c" in fix["text"] else [*missing, "the fix"]


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, json=body).raise_for_status()
    told: dict[str, Any] = answer.json()
    return told

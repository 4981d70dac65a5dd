"""Finding 19: what /openapi.json allows and the service refuses; `Allow` of 405."""

from typing import Any

import jsonschema_rs

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Values that a generator finds sooner or later; the schema must refuse what the service refuses.
_BODIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/memories", {"text": " "}),
    ("/memories", {"text": "a\x00b"}),
    ("/memories", {"text": "a", "occurred_at": "2026"}),
    ("/memories", {"text": "a", "tags": [" "]}),
    ("/memories", {"text": "a", "concepts": [""]}),
    ("/memories", {"text": "a", "source_kind": "document"}),
    ("/ingest", {"source": "../a.md", "text": "a"}),
    ("/ingest", {"source": "/a.md", "text": "a"}),
    ("/ingest", {"source": "./", "text": "a"}),
    ("/search", {"query": " "}),
    ("/search", {"query": "a\x00b"}),
    ("/search", {"query": "a", "since": "0"}),
    ("/graph-recall", {}),
    ("/graph-recall", {"query": "a", "seed_ids": ["b"]}),
    ("/consolidate/undo", {}),
    ("/consolidate", {"plan": "a", "older_than_days": 1}),
    ("/consolidate", {"cursor": "a", "dry_run": False}),
)  # fmt: skip


def attack(arena: Arena) -> list[Figure]:
    """Send such values, and every method that a path has not."""
    with arena.target() as target:
        contract = target.ask("GET", "/openapi.json").body
        refused = [
            f"{path} {body}" for path, body in _BODIES if _differs(target, contract, path, body)
        ]
        silent = _wrong_allow(target, contract)
    return [
        count(19, "values that the schema allows and the service refuses", len(refused),
              note=f"of {len(_BODIES)} tried"),
        count(19, "answers 405 whose Allow is not what the path takes", len(silent),
              note=", ".join(silent[:3])),
    ]  # fmt: skip


def _differs(target: Target, contract: dict[str, Any], path: str, body: dict[str, Any]) -> bool:
    sent = contract["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = {**sent, "components": contract["components"]}
    allowed = jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(body)
    return allowed and target.post(path, **body).status == 422


def _wrong_allow(target: Target, contract: dict[str, Any]) -> list[str]:
    wrong = []
    for path, taken in contract["paths"].items():
        allowed = {method for method in _METHODS if method.lower() in taken}
        for method in sorted(set(_METHODS) - allowed):
            told = target.ask(method, path.replace("{id}", "x"))
            listed = {one.strip() for one in told.headers.get("allow", "").split(",")}
            if told.status == 405 and listed - {"HEAD", "OPTIONS"} != allowed:
                wrong.append(f"{method} {path}")
    return wrong

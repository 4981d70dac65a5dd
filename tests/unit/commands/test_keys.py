"""The list of keys at a terminal: each bound of a key stands in it."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from service.client.access import Key
from service.commands.keys import _bounds, _table
from service.commands.misused import Misused

_NOW = datetime.now(UTC)


def _key(**told: Any) -> Key:
    key: dict[str, Any] = {
        "id": "0f3a9c21d7be", "name": "laptop", "scopes": ["read", "write"], "agents": None,
        "created_at": "2026-02-13T09:00:00Z", "expires_at": None, "last_used_at": None,
        "revoked_at": None, "origin": "agent", "memory_scopes": None, "rate": None,
        "byte_rate": None, "max_memories": None, "max_documents": None, "max_jobs": None,
    }  # fmt: skip
    return key | told  # type: ignore[return-value]


def _shown(*keys: Key, width: int = 160) -> str:
    out = StringIO()
    Console(file=out, width=width).print(_table(keys))
    return out.getvalue()


def test_a_key_is_shown_with_all_that_bounds_it() -> None:
    shown = _shown(
        _key(memory_scopes=["crane", "boat"], rate=600, max_jobs=2, origin="untrusted"),
        _key(memory_scopes=[], max_memories=0),
    )
    for bound in ("memory_scopes=crane,boat", "rate=600", "max_jobs=2", "untrusted"):
        assert bound in shown
    assert "max_memories=0" in shown
    assert "byte_rate" not in shown
    assert "=" not in _shown(_key())


def test_a_key_that_is_over_is_told_to_have_ended() -> None:
    before, after = (f"{_NOW + timedelta(days=days):%FT%TZ}" for days in (-2, 2))
    assert f"ended {before[:10]}" in _shown(_key(expires_at=before))
    assert "ended" not in _shown(_key(expires_at=after))
    assert f"revoked {after[:10]}" in _shown(_key(expires_at=before, revoked_at=after))


def test_an_id_stays_whole_at_a_narrow_terminal() -> None:
    assert "0f3a9c21d7be" in _shown(_key(memory_scopes=["crane"], rate=600), width=60)


def test_a_scope_moves_no_cursor() -> None:
    assert "\x1b" not in _shown(_key(memory_scopes=["\x1b[31mred"]))


def test_a_bound_that_is_given_twice_is_refused() -> None:
    assert _bounds(["memory_scopes=a,b", "rate=3"]) == {"memory_scopes": ["a", "b"], "rate": 3}
    with pytest.raises(Misused, match=r"twice.*memory_scopes=NAME,NAME"):
        _bounds(["memory_scopes=a", "memory_scopes=b"])
    with pytest.raises(Misused, match="rate=… is given twice: give it once"):
        _bounds(["rate=3", "max_jobs=1", "rate=900"])

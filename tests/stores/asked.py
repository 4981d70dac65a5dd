"""What the store is asked while a test looks."""

from collections.abc import Iterable
from typing import Any

import pytest

from service.store.database import Database
from service.store.queries import Query

Asked = list[tuple[Query, dict[str, Any]]]


def note_asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Note from now on what is asked, with its values, in the order of its coming."""
    asked, run = Asked(), Database.run

    async def noting(db: Database, query: Query, **params: Any) -> Any:
        asked.append((query, params))
        return await run(db, query, **params)

    monkeypatch.setattr(Database, "run", noting)
    return asked


def queries_of(asked: Iterable[tuple[Query, dict[str, Any]]]) -> list[Query]:
    """Return the queries alone."""
    return [query for query, _ in asked]

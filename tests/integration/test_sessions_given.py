"""Which sessions were given some memories: looked up by these, whoever asks."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from service.sessions.given import SESSIONS
from service.store.database import record
from service.store.queries import Query
from tests.stores.open_store import START, open_store

pytestmark = pytest.mark.anyio

# Row after row.
EVERY = """SELECT agent, in_session, count() AS memories, math::sum(times) AS times,
    time::min(first_at) AS first_at, time::max(at) AS at
FROM given WITH NOINDEX WHERE memory IN $ids AND ($agents IS NONE OR agent IN $agents)
GROUP BY agent, in_session ORDER BY at DESC LIMIT $limit"""


async def test_sessions_are_looked_up_by_what_they_were_given(tmp_path: Path) -> None:
    chance = random.Random(5)

    def of(*values: Any) -> Any:
        return chance.choice(values)

    rows = [
        {
            "id": record("given", [agent, session, memory]), "agent": agent, "in_session": session,
            "memory": memory, "content_hash": "h", "tokens": 1, "operation": "search",
            "first_at": START, "at": START + timedelta(seconds=chance.randrange(10**6)),
            "times": of(1, 2, 3), "is_known": True,
        }
        for agent in ("anna", "bob") for session in ("s1", "s2", "s3")
        for memory in chance.sample([f"m{n}" for n in range(9)], 5)
    ]  # fmt: skip
    async with open_store(tmp_path) as opened:
        await opened.ask("INSERT INTO given $rows RETURN NONE", rows=rows)
        every = Query("own", EVERY, SESSIONS.takes, writes=False)
        for _ in range(40):
            params = {
                "ids": chance.sample([f"m{n}" for n in range(10)], of(1, 2, 5)),
                "agents": of(None, [], ["anna"], ["anna", "bob"]), "limit": of(1, 1000),
            }  # fmt: skip
            found = await opened.db.run(SESSIONS, **params)
            assert found == await opened.db.run(every, **params), params
        params = {"ids": ["m1", "m2"], "agents": None, "limit": 10}
        plan = str(await opened.ask(f"EXPLAIN {SESSIONS.text}", **params))
        assert plan.count("[index: by_memory, access: = 'm") == 2
        # By the order all that was ever given is read.
        assert "by_time" not in plan

"""What a quarantine selects: rows are compared before they are decoded, and none is another one."""

import random
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from service.store.queries import Query
from service.trust.quarantine import SELECT, Selection, select
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

# Row after row, each with all that is asked for.
EVERY = """SELECT id, agent FROM memory WITH NOINDEX WHERE ($agents IS NONE OR agent IN $agents)
    AND source_kind != "consolidation" AND (trust_tier = "quarantined") = $is_quarantined
    AND ($source IS NONE OR source.uri IN [$source, $name] OR source.ref = $source
        OR (string::ends_with($source, "/") AND (string::starts_with(source.uri ?? "", $source)
            OR string::starts_with(source.uri ?? "", $name))))
    AND ($in_session IS NONE OR session = $in_session) AND ($client IS NONE OR client = $client)
    AND ($key IS NONE OR key = $key) AND ($since IS NONE OR updated_at >= $since)
ORDER BY agent, id"""
URIS = (
    "a", "a/", "a/b.md", "a/c/d.md", "a0", "a0/b.md", "a.md", "a\u00e9/b.md", "a/\U0001f600.md",
    "A/b.md",
)  # fmt: skip
SOURCES = (*URIS, "./a/", "a//", "./a/b.md", "/", "./", "r1", "a/c/", "\u00e9/")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield opened


async def test_each_selection_is_what_reading_each_row_gives(store: OpenStore) -> None:
    chance = random.Random(11)

    def of(*values: Any) -> Any:
        return chance.choice(values)

    for agent in ("anna", "bob"):
        await store.push(*(f"Crane {n} of {agent}." for n in range(60)), agent=agent)
    for key in [*await store.ids("anna"), *await store.ids("bob")]:
        await store.ask(
            "UPDATE type::record('memory', $which) MERGE $told RETURN NONE", which=key,
            told={
                "source": of(None, {"uri": of(*URIS)}, {"ref": of("r1", *URIS)}),
                "session": of(None, "s1", "s2"), "client": of(None, "codex", "cursor"),
                "key": of(None, "k1", "k2"), "updated_at": START + timedelta(days=of(0, 1, 2, 3)),
                "trust_tier": of("trusted", "untrusted", "quarantined"),
                "source_kind": of("push", "document", "consolidation"),
            },
        )  # fmt: skip
    every = Query("own", EVERY, SELECT.takes - {"source_end", "name_end"}, writes=False)
    found = 0
    for _ in range(300):
        way = chance.sample(("source", "session", "client", "key", "since"), of(1, 1, 2, 3))
        told = {
            "source": of(*SOURCES), "session": of("s1", "s3"), "client": of("codex", "x"),
            "key": of("k1", "x"), "since": START + timedelta(days=of(0, 2, 9)),
        }  # fmt: skip
        agents = of(None, ("anna",), ("bob", "carl"), ())
        asked = Selection(agents, **{name: told[name] for name in way})
        is_quarantined = of(True, False)
        params = asked.parameters() | {"name": asked.name, "is_quarantined": is_quarantined}
        rows = await store.db.run(every, **params)
        expected = {
            who: [row["id"] for row in some]
            for who, some in groupby(rows, lambda row: row["agent"])
        }
        assert await select(store.db, asked, is_quarantined=is_quarantined) == expected, asked
        found += bool(expected)
    assert found > 50


async def test_no_row_is_decoded_that_is_not_selected_by_one_of_its_fields(
    store: OpenStore,
) -> None:
    await store.push("A crane.")
    params: dict[str, Any] = dict.fromkeys(SELECT.takes, "a/") | {"since": START}
    branches = [part.split("}")[0] for part in SELECT.text.split("{ SELECT")[1:]]
    assert len(branches) == 5
    for branch in branches:
        plan = str(await store.ask(f"EXPLAIN SELECT {branch}", **params))
        assert "TableScan" in plan
        assert "pre_decode_filter: yes" in plan, branch

"""What a quarantine selects: rows are compared before they are decoded, and none is another one."""

import random
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import LOCAL, Caller
from service.observe.observing import Delta, Observer
from service.projects.identity import Identity
from service.projects.moving import move
from service.projects.registry import register
from service.store.database import record
from service.store.queries import Query
from service.trust.quarantine import SELECT, Selection, select
from service.trust.route import TrustRequest, post_quarantine
from service.trust.standing import select_standing, set_standing
from service.working_memory.texts import Place, append, put
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
        selected, _ = await select(store.db, asked, is_quarantined=is_quarantined)
        assert selected == expected, asked
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


async def test_a_dry_run_asks_nothing_of_each_memory(
    store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The edges to summaries were followed for each of them: most of the time of a large one."""
    await store.push(*(f"Crane {n}." for n in range(1100)))
    run, asked = store.db.run, list[int]()

    async def noting(query: Query, **params: Any) -> Any:
        asked.append(max((len(one) for one in params.values() if isinstance(one, list)), default=0))
        return await run(query, **params)

    monkeypatch.setattr(store.db, "run", noting)
    told = await post_quarantine(store.pipeline, LOCAL, TrustRequest(since=START, dry_run=True))
    assert told.memories == 1100
    # Of those that are shown the audit tells who was given them, and the ledger of which session.
    assert len(asked) == 4
    assert sum(asked) == 2 * len(told.ids) == 2000


Row = dict[str, Any]


async def _stand(store: OpenStore, chance: random.Random) -> dict[str, list[Row]]:
    """Put rows of anybody's in focus and intend them; return them by their table."""

    def anybodys(key: Any) -> Row:
        return {
            "id": key, "agent": key[0], "text": "A crane.", "client": chance.choice("xyz"),
            "key": chance.choice((None, "k1", "k2")),
            "origin": chance.choice(("agent", "untrusted")),
            "trust_tier": chance.choice(("trusted", "untrusted", "quarantined")),
            "at": START + timedelta(days=chance.choice((0, 1, 2, 3))),
        }  # fmt: skip

    stand = {
        "working_memory": [
            anybodys([agent, f"scope {n}", chance.choice((None, "s1", "s2"))])
            for agent in ("anna", "bob") for n in range(60)
        ],
        "intent": [anybodys([agent, f"{n}"]) for agent in ("anna", "bob") for n in range(60)],
    }  # fmt: skip
    intended = {"when": ["crane"], "cooldown_hours": 0.0, "fires": 1, "fired": 0}
    for table, rows in stand.items():
        for row in rows:
            told = {name: row[name] for name in row.keys() - {"id", "at"}}
            moment = "updated_at" if table == "working_memory" else "created_at"
            told |= {moment: row["at"]} | (intended if table == "intent" else {})
            await store.ask("CREATE $id CONTENT $told", id=record(table, row["id"]), told=told)
    return stand


def _is_meant(row: Row, asked: Selection, *, is_quarantined: bool) -> bool:
    """Say by each given part whether a row is one of a selection: an intent is of no session."""
    session = row["id"][2] if len(row["id"]) == 3 else None
    return (
        (row["trust_tier"] == "quarantined") == is_quarantined
        and (asked.agents is None or row["agent"] in asked.agents)
        and asked.session in {None, session}
        and asked.client in {None, row["client"]}
        and asked.key in {None, row["key"]}
        and (asked.since is None or row["at"] >= asked.since)
    )


async def test_of_what_sessions_are_told_unasked_each_part_selects(store: OpenStore) -> None:
    """An agent's admin would else put away what others have in focus, and what others intend."""
    chance = random.Random(12)
    stand = await _stand(store, chance)
    ways: Row = {"session": "s1", "client": "x", "key": "k1", "since": START + timedelta(days=2)}
    found = [0, 0]
    for way in [{name: ways[name]} for name in ways] + [
        {name: ways[name] for name in chance.sample(sorted(ways), 2)} for _ in range(4)
    ]:
        for agents, is_quarantined in ((None, True), (("anna",), True), (("bob",), False)):
            asked = Selection(agents, **way)
            told = await select_standing(store.db, asked, is_quarantined=is_quarantined)
            expected = [
                [row["id"] for row in rows if _is_meant(row, asked, is_quarantined=is_quarantined)]
                for rows in stand.values()
            ]
            got = [[row["id"] for row in rows] for rows in (told.working_memory, told.intents)]
            assert list(map(sorted, map(_named, got))) == list(map(sorted, map(_named, expected)))
            found = [one + bool(rows) for one, rows in zip(found, expected, strict=True)]
    assert min(found) > 5


def _named(keys: list[list[Any]]) -> list[str]:
    return [str(list(key)) for key in keys]


async def test_a_transcript_is_of_all_who_sent_of_it(store: OpenStore) -> None:
    observer = Observer(store.pipeline)
    for session, name in (("s1", "x"), ("s1", "y"), ("s2", "z")):
        delta = Delta(session, "generic", None, [{"role": "user", "content": name}], None, False)
        await observer.observe("anna", None, delta, Caller(client=name, key=f"k-{name}"))
    old = ["anna", "s2", "generic", "entries"]
    await store.ask(  # as a store has it that was written before
        "UPDATE $id SET clients = NONE, keys = NONE", id=record("transcript", old)
    )

    async def sessions_of(**way: Any) -> list[str]:
        asked = Selection(("anna",), **way)
        told = await select_standing(store.db, asked, is_quarantined=False)
        return sorted(key[1] for key in told.transcripts)

    assert await sessions_of(client="x") == await sessions_of(key="k-y") == ["s1"]
    assert await sessions_of(client="z") == await sessions_of(source="r1") == []
    assert await sessions_of(session="s2") == ["s2"]
    assert await sessions_of(since=START) == ["s1", "s2"]
    put_away = await select_standing(store.db, Selection(session="s1"), is_quarantined=False)
    await set_standing(store.db, put_away, "quarantined")
    assert await sessions_of(since=START) == ["s2"]
    told = await select_standing(store.db, Selection(session="s1"), is_quarantined=True)
    assert told.transcripts == put_away.transcripts
    await set_standing(store.db, told, None)
    assert await sessions_of(since=START) == ["s1", "s2"]


async def test_what_is_released_is_trusted_as_far_as_its_words_are(store: OpenStore) -> None:
    stand = await _stand(store, random.Random(13))
    everybodys = Selection(since=START)
    told = await select_standing(store.db, everybodys, is_quarantined=True)
    await set_standing(store.db, told, None)
    for table, rows in stand.items():
        for row in rows:
            tier = await store.ask(
                "RETURN (SELECT VALUE trust_tier FROM ONLY $id)", id=record(table, row["id"])
            )
            usual = "untrusted" if row["origin"] == "untrusted" else "trusted"
            assert tier == (usual if row["trust_tier"] == "quarantined" else row["trust_tier"])


async def test_a_focus_is_of_all_whose_words_stand_in_it(store: OpenStore) -> None:
    """Somebody else's part behind it would else keep the words of a stolen key before sessions."""
    old, new = Identity(name="harbour"), Identity(name="port")
    screen = store.pipeline.sanitiser
    places = [Place("anna", await register(store.db, "anna", one)) for one in (old, new)]
    for place, name in (*((places[0], name) for name in "xy"), (places[1], "z")):
        await append(store.db, screen, place, name, Caller(client=name, key=f"k-{name}"))
    # As a store has it that was written before.
    await store.ask("UPDATE $id SET clients = NONE, keys = NONE", id=places[1].id)
    await append(store.db, screen, places[1], "more", Caller())

    async def focus_of(**way: Any) -> list[str]:
        told = await select_standing(store.db, Selection(None, **way), is_quarantined=False)
        return [row["id"][1] for row in told.working_memory]

    assert await focus_of(client="x") == await focus_of(key="k-y") == [places[0].scope]
    assert await focus_of(client="z") == await focus_of(key="k-z") == [places[1].scope]
    await move(store.pipeline, "anna", old, new, 10)
    for name in "xyz":
        assert await focus_of(client=name, key=f"k-{name}") == [places[1].scope]
    await put(store.db, screen, places[1], "Another one.", Caller(client="w"))
    assert await focus_of(client="z") == []
    assert await focus_of(client="w") == [places[1].scope]

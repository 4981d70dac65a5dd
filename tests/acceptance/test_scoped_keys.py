"""A key for some scopes of memories: it reads and writes these, and is told of no others."""

from typing import Any

import httpx
import pytest

from service.access.operations import NEEDED, OPEN, SCOPED
from tests.servers.keyed import KeyedService

ENGINES = ("resident", "database")
Json = dict[str, Any]
OTHERS = ("zebrafinch", "quokkaville")


@pytest.fixture(scope="module")
def other(keyed: KeyedService) -> str:
    """Return the id of a memory of another scope, in the same session as one of the scope."""
    with keyed.client() as admin:
        ids = [
            admin.post(
                "/memories", json={"text": text, "scope": scope, "session": "s"}
            ).json()["id"]
            for text, scope in [
                ("The crane of the harbour.", "harbour"),
                ("The zebrafinch of Quokkaville.", "zoo"),
                ("A crane of no scope, said Zebrafinch.", None),
            ]
        ]  # fmt: skip
    return str(ids[1])


def _key(keyed: KeyedService, *scopes: str) -> httpx.Client:
    return keyed.client(keyed.key(["read", "write"], memory_scopes=list(scopes))[1])


def test_reads_tell_of_its_scopes_alone(keyed: KeyedService, other: str) -> None:
    with _key(keyed, "harbour") as client:
        for asked in ({}, {"scope": "harbour"}):
            found = client.post("/search", json={"query": "crane zebrafinch", **asked})
            assert [hit["scope"] for hit in found.json()["results"]] == ["harbour"]
            listed = client.get("/memories", params=asked)
            assert [one["scope"] for one in listed.json()["memories"]] == ["harbour"]
            own = listed.json()["memories"][0]["id"]
            told = f"{found.text}{listed.text}{client.get(f'/memories/{own}').text}".lower()
            assert not [word for word in OTHERS if word in told.replace('"crane zebrafinch"', "")]
        for method, path, sent in [
            ("POST", "/search", {"json": {"query": "crane", "scope": "zoo"}}),
            ("GET", "/search", {"params": {"q": "crane", "scope": "zoo"}}),
            ("GET", "/memories", {"params": {"scope": "zoo"}}),
        ]:
            refused = client.request(method, path, **sent)  # type: ignore[arg-type]
            assert refused.status_code == 403, refused.text
        for path in (f"/memories/{other}", f"/memories/{other}/lineage"):
            assert client.get(path).status_code == 404


def test_a_project_that_is_none_of_its_scopes_is_refused(keyed: KeyedService) -> None:
    with _key(keyed, "harbour") as client:
        client.post("/memories", json={"text": "A crane with a hook."}).raise_for_status()
        asked = {"query": "crane"}
        found = client.post("/search", json=asked | {"project": "harbour"}).json()["results"]
        assert {hit["scope"] for hit in found} == {"harbour"}
        for answer in (
            client.post("/search", json=asked | {"project": "zoo"}),
            client.post("/search", json=asked | {"project": {"root": "/home/ann/app"}}),
            client.get("/search", params={"q": "crane", "project": "zoo"}),
            client.post("/search", json=asked | {"project": "zoo", "scope": "harbour"}),
        ):
            assert (answer.status_code, "Leave out `project`" in answer.json()["detail"]) == (
                403, True,
            )  # fmt: skip
        refused = client.post("/memories", json={"text": "x", "project": "zoo"})
        assert (refused.status_code, "Leave out `project`" in refused.json()["detail"]) == (
            403, True,
        )  # fmt: skip


def test_it_makes_no_folder_a_project_of_its_scope(keyed: KeyedService) -> None:
    with _key(keyed, "harbour") as client, keyed.client() as admin:
        named = {"origin": "harbour", "root": "/home/ann/pier"}
        sent = [
            client.post("/memories", json={"text": "A pier.", "project": project}).status_code
            for project in (named, {"name": "aviary"})
        ]
        assert sent == [201, 403]
        told = [one["scope"] for one in admin.get("/projects").json()["projects"]]
        assert not {"harbour", "aviary"} & set(told)
        body = {"text": "Ann's plan of the pier.", "project": {"root": "/home/ann/pier"}}
        admin.post("/memories", json=body).raise_for_status()
        found = client.post("/search", json={"query": "Ann's plan of the pier"}).json()["results"]
        assert "Ann's plan of the pier." not in [hit["content"] for hit in found]


def test_it_is_not_told_of_how_many_memories_a_concept_is(keyed: KeyedService) -> None:
    with _key(keyed, "harbour") as client, keyed.client() as admin:
        body = {"text": "Who keeps it?", "tags": ["lighthouse"]}
        asked = f"/memories/{client.post('/memories', json=body).json()['id']}"
        admin.post("/memories", json=body | {"scope": "hills"})
        assert [one["memories"] for one in admin.get(asked).json()["concepts"]] == [2]
        told = [client.get(asked), client.patch(asked, json={"importance": 0.9})]
        for answer in told:
            [concept] = answer.json()["concepts"]
            assert (concept["id"], concept["memories"]) == ("lighthouse", None)
        assert client.delete(asked).status_code == 204


def test_a_receipt_counts_nothing_of_other_scopes(keyed: KeyedService, other: str) -> None:
    asked: Json = {"query": "Zebrafinch at the crane?", "session": "of-all", "new_only": True}
    with _key(keyed, "harbour") as client, keyed.client() as admin:
        assert other in admin.post("/search", json=asked | {"limit": 50}).text
        own = len(client.get("/memories").json()["memories"])
        counts = client.post("/search", json=asked).json()["receipt"]["counts"]
        # What the session was given is filtered out, of its own scope alone.
        assert (counts["given"], counts["filtered"]) == (own, own)


def test_no_intents_are_said_to_it(keyed: KeyedService) -> None:
    asked = {"query": "A crane?", "session": "s", "new_only": False, "project": "the-zoo"}
    with _key(keyed, "harbour") as client, keyed.client() as admin:
        for place in ({}, {"project": "the-zoo"}):
            intent = {"when": ["crane"], "text": "Feed the birds of Quokkaville."} | place
            admin.post("/intents", json=intent).raise_for_status()
        assert client.post("/search", json=asked).status_code == 403
        assert client.post("/search", json=asked | {"project": None}).json()["intents"] == []
        # They are still to be said to whoever may hear them.
        assert len(admin.post("/search", json=asked).json()["intents"]) == 2


def test_writes_reach_its_scopes_alone(keyed: KeyedService, other: str) -> None:
    with _key(keyed, "harbour") as client, keyed.client() as admin:
        made = client.post("/memories", json={"text": "A new crane."}).json()["id"]
        assert admin.get(f"/memories/{made}").json()["scope"] == "harbour"
        assert client.post("/memories", json={"text": "x", "scope": "zoo"}).status_code == 403
        [error] = client.post(
            "/memories/batch", json={"memories": [{"text": "x", "scope": "zoo"}]}
        ).json()["errors"]
        assert "harbour" in error["detail"]
        moved = client.patch(f"/memories/{made}", json={"scope": "zoo"})
        assert moved.status_code == 403
        assert client.patch(f"/memories/{made}", json={"scope": None}).status_code == 403
        assert client.patch(f"/memories/{made}", json={"pinned": True}).status_code == 200
        assert client.patch(f"/memories/{other}", json={"pinned": True}).status_code == 404
        assert client.delete(f"/memories/{other}").status_code == 404
        document = {"source": "a.md", "text": "---\nscope: zoo\n---\n# A\n\nA crane.\n"}
        assert client.post("/ingest", json=document).status_code == 200
        scopes = {
            one["scope"]
            for one in admin.get("/memories", params={"limit": 100}).json()["memories"]
            if one["source"]["uri"] == "a.md"
        }
        assert scopes == {"harbour"}
        assert client.post("/ingest", json={**document, "scope": "zoo"}).status_code == 403


def test_of_several_scopes_one_is_named(keyed: KeyedService, other: str) -> None:
    with _key(keyed, "harbour", "zoo") as client:
        refused = client.post("/search", json={"query": "crane"})
        assert (refused.status_code, "scope" in refused.json()["detail"]) == (403, True)
        found = client.post("/search", json={"query": "zebrafinch", "scope": "zoo"}).json()
        assert [hit["id"] for hit in found["results"]] == [other]


def test_what_tells_of_other_scopes_is_refused(keyed: KeyedService, other: str) -> None:
    key = keyed.key(["read", "write", "admin"], memory_scopes=["harbour"])[1]
    with keyed.client(key) as client:
        paths = client.get("/openapi.json").json()["paths"]
        for path, methods in paths.items():
            for method, told in methods.items():
                if told["operationId"] in SCOPED | OPEN:
                    continue
                assert told["operationId"] in NEEDED
                answer = client.request(
                    method, path.replace("{id}", other), json={} if method != "get" else None
                )
                assert answer.status_code == 403, (path, answer.text)
                assert not [word for word in OTHERS if word in answer.text.lower()]
        ready = client.get("/health/ready").json()
        assert (bool(ready["checks"]), ready["index"]) == (True, None)


def test_what_another_scope_has_under_a_name_is_not_written_over(keyed: KeyedService) -> None:
    sent = [
        {"text": "The plan of the zoo.", "source_ref": "plan", "scope": "zoo"},
        {"text": "The plan of the harbour.", "source_ref": "plan"},
        {"text": "The crane needs oil.", "source_ref": "oil"},
    ]
    page = {"source": "notes/plan.md", "text": "# Plan\n\nOf the zoo.\n", "scope": "zoo"}
    with keyed.client() as admin, _key(keyed, "harbour") as client:
        admin.post("/memories", json=sent[0]).raise_for_status()
        admin.post("/ingest", json=page).raise_for_status()
        before = admin.get("/memories", params={"scope": "zoo"}).json()
        refused = client.post("/memories", json=sent[1])
        assert refused.status_code == 403
        assert "another name" in refused.json()["detail"]
        wrong = {"text": "Of the zoo.", "scope": "zoo"}
        batch = client.post("/memories/batch", json={"memories": [*sent[1:], wrong]}).json()
        # In the order they were sent, whatever refused them.
        assert [one["index"] for one in batch["errors"]] == [0, 2]
        assert batch["ids"][0] is None
        assert batch["created"] == 1
        for text in ("# Plan\n\nOf the harbour.\n", ""):
            answer = client.post("/ingest", json={"source": "notes/plan.md", "text": text})
            assert answer.status_code == 403
        assert admin.get("/memories", params={"scope": "zoo"}).json() == before

"""What the filters of /graph-recall hide is neither returned, nor walked from, nor named."""

import httpx

# The same answers from RAM and from SurrealDB's own indexes.
ENGINES = ("resident", "database")


def _store(client: httpx.Client, agent: str, text: str, **fields: object) -> str:
    answer = client.post("/memories", json={"text": text, "agent": agent, **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_seed_of_another_scope_is_no_beginning(client: httpx.Client) -> None:
    seed = _store(client, "recall-seed", "About the Blue Harbour.", scope="a", tags=["harbour"])
    _store(client, "recall-seed", "More of the Blue Harbour.", scope="b", tags=["harbour"])
    asked = {"agent": "recall-seed", "seed_ids": [seed]}
    assert client.post("/graph-recall", json={**asked, "scope": "a"}).json()["seeds"] == [seed]
    hidden = client.post("/graph-recall", json={**asked, "scope": "b"}).json()
    assert (hidden["seeds"], hidden["results"], hidden["concepts"]) == ([], [], [])


def test_a_concept_of_hidden_memories_is_not_named(client: httpx.Client) -> None:
    agent = "recall-concepts"
    for number in range(2):
        _store(client, agent, f"Harbour log {number}.", scope="open", tags=["harbour"])
        # The hidden memories tie the harbour to a name that only they hold.
        hidden = {"scope": "closed", "tags": ["harbour", "Whispered Name"]}
        _store(client, agent, f"Secret {number}.", **hidden)
    asked = {"query": "harbour log", "agent": agent, "hops": 3}
    everything = client.post("/graph-recall", json=asked)
    assert "whispered_name" in everything.text
    answer = client.post("/graph-recall", json={**asked, "scope": "open"})
    assert answer.json()["results"]
    assert "hispered" not in answer.text

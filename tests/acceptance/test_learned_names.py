"""What ties notes together undeclared: identifiers, abbreviations, names without capitals."""

from typing import Any

import httpx

Json = dict[str, Any]


def _store(client: httpx.Client, agent: str, *texts: str) -> list[str]:
    memories = [{"text": text, "agent": agent} for text in texts]
    answer = client.post("/memories/batch", json={"memories": memories})
    assert answer.status_code == 200, answer.text
    ids: list[str] = answer.json()["ids"]
    return ids


def _tied(client: httpx.Client, agent: str, seed: str) -> dict[str, list[str]]:
    """Return the concepts by which each other memory is reached from `seed`."""
    body = {"agent": agent, "seed_ids": [seed], "temporal": False, "hops": 2}
    answer = client.post("/graph-recall", json=body)
    assert answer.status_code == 200, answer.text
    return {
        found["id"]: [step["concept"] for step in found["path"] if "concept" in step]
        for found in answer.json()["results"]
        if found["id"] != seed
    }


def test_an_identifier_ties_notes(client: httpx.Client) -> None:
    paid, ends, _ = _store(
        client,
        "grant",
        "The field work is paid from FN-88.",
        "FN-88 ends in December.",
        "FN-89 too.",
    )
    assert _tied(client, "grant", paid) == {ends: ["fn_88"]}


def test_an_abbreviation_leads_to_its_long_name(client: httpx.Client) -> None:
    _, short, long, _ = _store(
        client,
        "rag",
        "We try Retrieval-Augmented Generation (RAG).",
        "The RAG index has grown.",
        "So retrieval-augmented generation is slow now.",
        "A wet rag.",
    )
    slug = "retrieval_augmented_generation"
    concept = client.get(f"/concepts/{slug}", params={"agent": "rag"}).json()
    assert (concept["aliases"], concept["memories"]) == (["RAG"], 3)
    assert _tied(client, "rag", short)[long] == [slug]


def test_a_korean_name_is_found_with_its_particles(client: httpx.Client) -> None:
    called, came, _ = _store(
        client, "mail", "김민수 팀장에게 전화했다", "김민수가 왔다", "민수가 왔다"
    )
    assert _tied(client, "mail", called) == {came: ["김민수"]}


def test_a_chinese_title_is_found_in_a_run_of_letters(client: httpx.Client) -> None:
    read, back, _ = _store(client, "books", "昨天看了《红楼梦》。", "把红楼梦还给她", "红楼很远")
    assert _tied(client, "books", read) == {back: ["红楼梦"]}

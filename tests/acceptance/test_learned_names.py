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


def test_a_language_is_not_the_letter_that_it_begins_with(client: httpx.Client) -> None:
    who = {"agent": "languages"}
    texts = {lang: f"The parser is in {lang}." for lang in ("C", "C#", "C++", "F#")}
    ids = dict(zip(texts, _store(client, "languages", *texts.values()), strict=True))
    named = {**who, "text": "The old one, too.", "concepts": ["C++", "F#"]}
    given = client.post("/memories", json=named).json()["id"]
    body = {**who, "text": "And [[C#]] is by #c++."}
    linked = client.post("/memories", json=body).json()["id"]
    assert _tied(client, "languages", given) == {
        ids["C++"]: ["c++"], ids["F#"]: ["f#"], linked: ["c++"], ids["C#"]: ["c++", "c#"],
    }  # fmt: skip
    for path, name in (("c%2B%2B", "C++"), ("c++", "C++"), ("f%23", "F#")):
        concept = client.get(f"/concepts/{path}", params=who).json()
        assert concept["name"] == name
    by_words = {**who, "fusion": "rrf", "weights": {"text": 1, "vector": 0, "graph": 0}}
    for language in ("C#", "C++", "F#"):
        asked = {**by_words, "query": f"Which parser is in {language}?"}
        found = client.post("/search", json=asked).json()["results"]
        assert found[0]["id"] == ids[language]


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


def test_a_file_that_is_called_by_a_plain_word_is_led_to_by_links_and_its_capital(
    client: httpx.Client,
) -> None:
    who = {"agent": "files"}
    texts = {
        "release": "# How we ship\n\nOn Mondays.", "config": "Ports and paths.",
        "Weekly": "# This week\n\nSee [[release]] and [[config]].",
    }  # fmt: skip
    for name, text in texts.items():
        body = {**who, "source": f"vault/{name}.md", "text": text}
        assert client.post("/ingest", json=body).status_code == 200
    capital, *_ = _store(
        client, "files", "The Release, the Config.", "They release a dog.", "It has a config."
    )
    found = client.get("/memories", params=who).json()["memories"]
    titled = {one["title"]: one["id"] for one in found}
    for file, word in (("How we ship", "release"), ("config", "config")):
        tied = _tied(client, "files", titled[file])
        direct = {key for key, path in tied.items() if path == [word]}
        assert direct == {titled["This week"], capital}

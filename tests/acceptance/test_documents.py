"""GET /documents: the text of a source by line range."""

import httpx
import pytest

TEXT = "# Title\n\nfirst\n\n## Part\n\nsecond\n"


def _ingest(client: httpx.Client, text: str, agent: str, source: str = "notes/a.md") -> None:
    answer = client.post("/ingest", json={"source": source, "text": text, "agent": agent})
    assert answer.status_code == 200, answer.text


def _get(client: httpx.Client, agent: str, **parameters: object) -> httpx.Response:
    given = {"path": "notes/a.md", "agent": agent, **parameters}
    return client.get("/documents", params={n: str(v) for n, v in given.items()})


def test_a_document_is_read_whole_or_by_lines(client: httpx.Client) -> None:
    _ingest(client, TEXT, "lines")
    whole = _get(client, "lines").json()
    assert whole["path"] == "notes/a.md"
    assert whole["text"] == TEXT.rstrip("\n")
    assert (whole["from_line"], whole["to_line"], whole["total_lines"]) == (1, 7, 7)
    part = _get(client, "lines", **{"from": 3, "lines": 3}).json()
    assert part["text"] == "first\n\n## Part"
    assert (part["from_line"], part["to_line"], part["total_lines"]) == (3, 5, 7)
    end = _get(client, "lines", **{"from": 7, "lines": 40}).json()
    assert (end["text"], end["to_line"]) == ("second", 7)
    past = _get(client, "lines", **{"from": 8}).json()
    assert (past["text"], past["total_lines"]) == ("", 7)


def test_a_document_is_found_by_any_path_that_ingest_takes_for_its_name(
    client: httpx.Client,
) -> None:
    _ingest(client, TEXT, "paths")
    for path in ("./notes/a.md", "notes//a.md", "notes\\a.md", "notes/./a.md"):
        answer = _get(client, "paths", path=path)
        assert (answer.status_code, answer.json().get("path")) == (200, "notes/a.md")
    for path in ("/notes/a.md", "notes/../notes/a.md", "~/notes/a.md", "", ".", "a\n.md"):
        answer = _get(client, "paths", path=path)
        assert (answer.status_code, path in answer.json()["detail"]) == (404, path != "a\n.md")


def test_a_document_is_as_it_was_last_ingested(client: httpx.Client) -> None:
    _ingest(client, TEXT, "newest")
    _ingest(client, "only this\n", "newest")
    assert _get(client, "newest").json()["text"] == "only this"


@pytest.mark.parametrize(
    "separator", ["\n", "\r\n", "\r", "\n\x0b\n", "\n\x0c\n", "\n\u2028\n", "\n\x85\n"]
)
def test_the_lines_of_a_hit_are_the_lines_of_its_document(
    client: httpx.Client, separator: str
) -> None:
    agent = f"hit-{separator.encode().hex()}"
    lines = ["# Title", "", "before the break", "", "## Part", "", "the needle lies here", ""]
    _ingest(client, separator.join(lines), agent)
    found = client.post("/search", json={"query": "needle", "agent": agent}).json()["results"]
    source = next(hit["source"] for hit in found if "needle" in hit["content"])
    count = source["line_end"] - source["line_start"] + 1
    part = _get(client, agent, **{"from": source["line_start"], "lines": count}).json()
    assert part["text"].startswith("## Part")
    assert part["text"].rstrip().endswith("the needle lies here")


def test_a_deleted_section_is_served_no_more(client: httpx.Client) -> None:
    _ingest(client, TEXT, "forgets")
    page = client.get("/memories", params={"agent": "forgets"}).json()["memories"]
    [key] = [memory["id"] for memory in page if memory["content"] == "second"]
    assert client.delete(f"/memories/{key}", params={"agent": "forgets"}).status_code == 204
    for _ in range(2):
        whole = _get(client, "forgets").json()
        assert whole["text"] == "# Title\n\nfirst\n\n\n\n"
        assert whole["total_lines"] == 7
        assert whole["withheld"] == [{"from_line": 5, "to_line": 7, "reason": "deleted"}]
        part = _get(client, "forgets", **{"from": 5}).json()
        assert (part["text"], part["withheld"]) == ("\n\n", whole["withheld"])
        # Sent again, the document brings nothing back.
        _ingest(client, TEXT, "forgets")
    found = client.post("/search", json={"query": "second", "agent": "forgets"}).json()["results"]
    assert "second" not in " ".join(hit["content"] for hit in found)


def test_a_deleted_section_that_gets_the_id_of_one_that_goes_is_served_no_more(
    client: httpx.Client,
) -> None:
    """Of sections with one heading those that are stored have ids; what was deleted has none."""
    words = ["the buoy", "the ferry", "the crane", "the winch"]
    sections = [f"## Log\n\n{one}\n\n" for one in words]
    _ingest(client, "".join(["# Notes\n\n", *sections]), "reuses")
    page = client.get("/memories", params={"agent": "reuses"}).json()["memories"]
    for gone in ("the winch", "the crane"):
        [key] = [memory["id"] for memory in page if memory["content"] == gone]
        client.delete(f"/memories/{key}", params={"agent": "reuses"}).raise_for_status()
    # The buoy goes, and its id is the next to be had.
    _ingest(client, "".join(["# Notes\n\n", *sections[1:]]), "reuses")
    whole = _get(client, "reuses").json()
    assert whole["text"].rstrip() == "# Notes\n\n## Log\n\nthe ferry"
    assert whole["withheld"] == [
        {"from_line": first, "to_line": first + 2, "reason": "deleted"} for first in (7, 11)
    ]


def test_what_is_quarantined_is_served_to_those_who_ask_for_it(client: httpx.Client) -> None:
    _ingest(client, TEXT, "walls")
    page = client.get("/memories", params={"agent": "walls"}).json()["memories"]
    [key] = [memory["id"] for memory in page if memory["content"] == "second"]
    change = {"trust_tier": "quarantined"}
    client.patch(f"/memories/{key}", params={"agent": "walls"}, json=change).raise_for_status()
    shown = _get(client, "walls").json()
    assert "second" not in shown["text"]
    assert shown["withheld"] == [{"from_line": 5, "to_line": 7, "reason": "trust"}]
    asked = client.get(
        "/documents",
        params={"path": "notes/a.md", "agent": "walls", "trust": ["trusted", "quarantined"]},
    ).json()
    assert (asked["text"], asked["withheld"]) == (TEXT.rstrip("\n"), [])


EVIL = "---\ntitle: Front word\n---\n# Top word\n\n## Bare word\n\n### Sub\n\nsecond word\n"


@pytest.mark.parametrize("is_deleted", [False, True])
def test_of_a_document_without_a_memory_no_word_is_served(
    client: httpx.Client, *, is_deleted: bool
) -> None:
    agent = f"silent-{is_deleted}"
    _ingest(client, f"{EVIL}\n# Other\n\nfirst\n", agent)
    for words, left in (("second word", "# Other\n\nfirst"), ("first", "")):
        page = client.get("/memories", params={"agent": agent}).json()["memories"]
        [key] = [memory["id"] for memory in page if memory["content"] == words]
        where, one = f"/memories/{key}", {"agent": agent}
        answer = (
            client.delete(where, params=one)
            if is_deleted
            else client.patch(where, params=one, json={"trust_tier": "quarantined"})
        )
        answer.raise_for_status()
        assert _get(client, agent).json()["text"].strip() == left
    # What was deleted does not come back with the file, nor what stood with it.
    if is_deleted:
        _ingest(client, f"{EVIL}\n# Other\n\nfirst\n", agent)
        assert not _get(client, agent).json()["text"].strip()


@pytest.mark.parametrize("path", ["none.md", "../notes/a.md", "/etc/passwd", "", "notes/a.md'"])
def test_an_unknown_document_is_a_problem(client: httpx.Client, path: str) -> None:
    _ingest(client, TEXT, "unknown")
    answer = _get(client, "unknown", path=path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "source.uri" in answer.json()["detail"]


def test_another_agents_document_is_unknown(client: httpx.Client) -> None:
    _ingest(client, TEXT, "author")
    assert _get(client, "reader").status_code == 404


@pytest.mark.parametrize("wrong", [{"from": 0}, {"from": "x"}, {"lines": 0}, {"lines": 10**6}])
def test_a_wrong_range_is_refused(client: httpx.Client, wrong: dict[str, object]) -> None:
    answer = _get(client, "lines", **wrong)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"?{next(iter(wrong))}"

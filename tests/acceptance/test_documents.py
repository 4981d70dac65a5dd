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

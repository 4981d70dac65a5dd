"""Bad input: each a clear problem, and nothing stored by it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Start

Json = dict[str, Any]
JSON = {"Content-Type": "application/json"}
MEMBERS = {"type", "title", "status", "detail", "instance", "request_id"}

INJECTIONS = [
    "'; DELETE memory; --", '"; REMOVE TABLE memory; //', "$query $agent $limit", "`id` ⟨id⟩",
    'type::thing("memory", "x")', "{ RETURN 1 }", "\\'); THROW 'x'; /*",
    "<script>alert(1)</script>",
    "%27%20OR%201=1", "../../etc/passwd", "r'memory:x'", "🐰 토끼 \u202e \ufeff",
]  # fmt: skip


def _check(answer: httpx.Response, status: int) -> Json:
    """Assert that an answer is a problem that helps, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: Json = answer.json()
    assert problem.keys() >= MEMBERS
    assert problem["status"] == status
    assert problem["instance"] == answer.request.url.path
    assert answer.headers["x-request-id"] == problem["request_id"]
    assert len(problem["detail"]) > 12
    assert len(problem["detail"]) < 500
    assert status != 422 or problem["errors"]
    for error in problem.get("errors", []):
        assert error.keys() >= {"pointer", "detail"}
    return problem


@pytest.fixture(scope="module", autouse=True)
def nothing_stored(client: httpx.Client) -> Iterator[None]:
    """Assert in the end that nothing was stored for `main`, which every bad request is about."""
    yield
    left = client.get("/stats").json()
    assert (left.pop("agent"), left.pop("kinds")) == ("main", {})
    assert set(left.values()) == {0}


WRONG_FIELDS: list[tuple[str, object]] = [
    ("query", ""), ("query", " \n\t"), ("query", "x" * 100_000), ("query", None), ("query", 7),
    ("query", "a\x00b"), ("limit", 0), ("limit", -1), ("limit", 10**6), ("limit", 10**30),
    ("limit", "x"),
    ("limit", 1.5), ("kinds", ["song"]), ("kinds", "note"), ("types", ["magic"]),
    ("trust", ["mine"]),
    ("trust", []), ("kinds", []), ("types", []), ("origins", []), ("scope", ""),
    ("since", "yesterday"), ("since", "2026-02-30"), ("since", 2026),
    ("since", "2026"), ("until", "2026-13-01"), ("until", "20260213"),
    ("as_of", "0001-01-01T00:00:00+14:00"),
    ("until", "9999-12-31T23:00:00-12:00"), ("agent", ""), ("agent", "two words"),
    ("agent", "x" * 101),
    ("fusion", "magic"), ("rrf_k", 0), ("weights", {"vector": -1}), ("weights", {"smell": 1}),
    ("detail", "some"), ("max_tokens", 0), ("min_confidence", 2), ("colour", "red"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG_FIELDS)
def test_a_wrong_field_of_a_search_is_named(client: httpx.Client, name: str, value: object) -> None:
    problem = _check(client.post("/search", json={"query": "words", name: value}), 422)
    assert problem["errors"][0]["pointer"].startswith(f"/{name}")
    assert problem["errors"][0]["detail"] in problem["detail"]


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/search", "?q"), ("/search?q=", "?q"), ("/search?q=a&limit=0", "?limit"),
        ("/search?q=a&limit=x", "?limit"), ("/search?q=a&kinds=song", "?kinds.0"),
        ("/search?q=a&colour=red", "?colour"), ("/search?q=a%00", "?q"), ("/graph-recall", "?q"),
        ("/graph-recall?q=a&hops=5", "?hops"), ("/graph-recall?q=a&edges=x", "?edges.0"),
        ("/memories?limit=1001", "?limit"), ("/memories?cursor=x", "?cursor"),
        ("/memories?cursor=WyJ4IiwxXQ", "?cursor"), ("/concepts?cursor=WyJ4IiwieSJd", "?cursor"),
        ("/concepts?cursor=WzE4NDQ2NzQ0MDczNzA5NTUxNjE1LCJhIl0", "?cursor"),
        ("/concepts?limit=0", "?limit"), ("/stats?agent=a%20b", "?agent"),
        ("/handoff?project={}", "?project"), ("/search?q=a&project={", "?project"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named(client: httpx.Client, path: str, pointer: str) -> None:
    assert _check(client.get(path), 422)["errors"][0]["pointer"] == pointer


WRONG_MEMORIES: list[tuple[str, str]] = [
    ("text", '""'), ("text", '"\\ud800"'), ("text", '"a\\u0000"'), ("title", '"\\udfff"'),
    ("title", '"a\\u0000"'), ("tags", '["\\ud800"]'), ("concepts", '[""]'), ("scope", '"\\ud800"'),
    ("importance", "NaN"), ("importance", "-0.1"), ("importance", "1e400"),
    ("importance", "1" + "0" * 400),
    ("importance", '"much"'), ("kind", '"song"'), ("type", '"magic"'), ("trust_tier", '"mine"'),
    ("occurred_at", '"soon"'), ("occurred_at", "1700000000"),
    ("valid_until", '"0001-01-01T00:00:00+14:00"'),
    ("source_kind", '"Bad Kind"'), ("source_ref", '""'), ("session", "[]"), ("id", '"x"'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG_MEMORIES)
def test_a_wrong_field_of_a_memory_is_named(client: httpx.Client, name: str, value: str) -> None:
    text = "" if name == "text" else '"text": "words", '
    one = f'{{{text}"{name}": {value}}}'
    problem = _check(client.post("/memories", content=one, headers=JSON), 422)
    assert problem["errors"][0]["pointer"].startswith(f"/{name}")
    many = client.post("/memories/batch", content=f'{{"memories": [{one}]}}', headers=JSON).json()
    assert (many["ids"], many["errors"][0]["index"]) == ([None], 0)
    assert many["errors"][0]["detail"].startswith(name)


WRONG_FORMS: list[tuple[str, Json, str]] = [
    ("/handoff", {"text": "words", "project": {}}, "/project"),
    ("/search", {"query": "words", "project": {"name": 7}}, "/project/name"),
    ("/search", {"query": "words", "project": {"path": "/w"}}, "/project/path"),
    ("/search", {"query": "words", "project": 7}, "/project"),
    ("/search", {"query": "words", "project": " "}, "/project"),
    ("/consolidate", {"cursor": "x"}, "/cursor"), ("/consolidate", {"cursor": 7}, "/cursor"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "pointer"), WRONG_FORMS)
def test_a_field_of_several_forms_is_named_once_and_as_it_stands(
    client: httpx.Client, path: str, body: Json, pointer: str
) -> None:
    problem = _check(client.post(path, json=body), 422)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


WRONG_BODIES: list[tuple[bytes, str, int]] = [
    (b"", "application/json", 422), (b"null", "application/json", 422),
    (b"[]", "application/json", 422),
    (b'"words"', "application/json", 422), (b"{not json", "application/json", 422),
    (b'{"query": "a"} trailing', "application/json", 422), (b'{"query": "a"}', "text/plain", 415),
    (b"query=a", "application/x-www-form-urlencoded", 415),
    (b'{"query": "\xff"}', "application/json", 400),
    (b"[" * 100_000, "application/json", 400),
    (b'{"limit": ' + b"9" * 5000 + b"}", "application/json", 400),
    (b'{"\\ud800": 1, "query": "a"}', "application/json", 422),
    (b"\x00\x01", "application/octet-stream", 415),
]  # fmt: skip


@pytest.mark.parametrize(
    "path", ["/search", "/graph-recall", "/memories", "/memories/batch", "/ingest"]
)
def test_a_body_that_is_no_json_object_is_told_so(client: httpx.Client, path: str) -> None:
    for content, media_type, status in WRONG_BODIES:
        headers = {"Content-Type": media_type}
        problem = _check(client.post(path, content=content, headers=headers), status)
        if "query" not in str(content):
            assert "JSON" in problem["detail"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/search?q=a&limit=1&limit=100", "limit"),
        ("/search?q=a&q=b", "q"),
        ("/memories?scope=gpu&scope=home", "scope"),
        ("/memories?tags=a&tags=b&since=2026-01-01&since=2020-01-01", "since"),
        ("/decisions?tag=a&tag=b", "tag"),
        ("/documents?path=a.md&path=b.md", "path"),
        ("/memories/nope?agent=main&agent=other", "agent"),
    ],
)
def test_a_parameter_of_one_value_that_stands_twice_is_refused(
    client: httpx.Client, path: str, name: str
) -> None:
    [error] = _check(client.get(path), 422)["errors"]
    assert error["pointer"] == f"?{name}"
    assert "one value" in error["detail"]


def test_a_parameter_of_several_values_may_stand_again(client: httpx.Client) -> None:
    asked = "tags=a&tags=b&kinds=note&kinds=fact&types=semantic&types=episodic&trust=trusted"
    assert client.get(f"/memories?{asked}&trust=untrusted&origins=agent&origins=owner").is_success
    walked = client.get("/graph-recall?q=a&edges=references&edges=follows&seed_ids=a&seed_ids=b")
    assert walked.status_code != 422 or "one value" not in walked.text


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("GET", "/search", "q=x"), ("GET", "/memories", ""), ("GET", "/memories/x", ""),
        ("PATCH", "/memories/x", ""), ("DELETE", "/memories/x", ""),
        ("GET", "/memories/x/lineage", ""),
        ("GET", "/documents", "path=a.md"), ("GET", "/concepts", ""), ("GET", "/concepts/x", ""),
        ("GET", "/graph/report", ""), ("GET", "/stats", ""), ("GET", "/index", ""),
        ("GET", "/projects", ""), ("GET", "/clients", ""), ("GET", "/intents", ""),
        ("DELETE", "/intents/x", ""), ("GET", "/opt-outs", ""), ("GET", "/sessions/x", ""),
    ],
)  # fmt: skip
def test_a_misspelt_parameter_is_refused(
    client: httpx.Client, method: str, path: str, known: str
) -> None:
    body: dict[str, str] | None = {} if method == "PATCH" else None
    problem = _check(client.request(method, f"{path}?{known}&agnt=bob", json=body), 422)
    assert problem["errors"] == [{"pointer": "?agnt", "detail": "Extra inputs are not permitted."}]


@pytest.mark.parametrize(
    ("method", "path", "field", "body"),
    [
        ("POST", "/memories", "agent=bob", {"text": "A buoy."}),
        ("POST", "/memories/batch", "agent=bob", {"memories": [{"text": "A buoy."}]}),
        ("PATCH", "/memories/x", "text=y", {"title": "A buoy"}),
        ("PUT", "/working-memory", "project=crane", {"text": "A buoy."}),
        ("POST", "/consolidate", "dry_run=false", {}),
        ("POST", "/search", "scope=a", {"query": "x"}),
        ("POST", "/index/rebuild", "agent=bob", None),
    ],
)  # fmt: skip
def test_a_field_of_the_body_that_stands_in_the_query_is_refused(
    client: httpx.Client, method: str, path: str, field: str, body: object
) -> None:
    problem = _check(client.request(method, f"{path}?{field}", json=body), 422)
    told = {"pointer": f"?{field.partition('=')[0]}"}
    assert problem["errors"] == [told | {"detail": "Is read in the body here, not in the query."}]


def test_a_hook_is_asked_by_any_address(client: httpx.Client) -> None:
    assert client.post("/hooks/session-start?from=a-webhook", json={}).is_success


@pytest.mark.parametrize("path", ["/session-context", "/reflect", "/consolidate"])
def test_where_all_is_optional_no_body_is_needed(client: httpx.Client, path: str) -> None:
    stored = client.post("/memories", json={"text": "A bell."}).json()["id"]
    assert client.post(path).is_success
    client.delete(f"/memories/{stored}").raise_for_status()


def test_a_body_without_a_content_type_is_not_taken(client: httpx.Client) -> None:
    """FastAPI below 0.132 takes it, and any web page may send it unasked."""
    problem = _check(client.post("/memories", content=b'{"text": "A bell."}'), 415)
    assert "Content-Type: application/json" in problem["detail"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404), ("POST", "/search/x", 404), ("DELETE", "/search", 405),
        ("PUT", "/memories", 405), ("POST", "/stats", 405), ("GET", "/memories/none", 404),
        ("GET", "/memories/%00", 404), ("GET", "/memories/'; DELETE memory; --", 404),
        ("DELETE", "/memories/none", 404), ("GET", "/concepts/none", 404),
        ("GET", "/ingest/jobs/none", 404), ("POST", "/memories/", 404), ("GET", "/docs/", 404),
        ("GET", "/search?q=a&agent=nobody", 404), ("GET", "/search?q=a&read_from=nobody", 403),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    _check(client.request(method, path), status)


def _takes_until(operation: Json, schemas: Json) -> bool:
    told = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = told.get("schema", {}).get("$ref", "").rpartition("/")[2]
    fields = {one["name"] for one in operation.get("parameters", [])}
    return "until" in {*fields, *schemas.get(name, {}).get("properties", {})}


def test_a_span_that_ends_before_it_begins_is_refused(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    taking = [
        (method, path)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if _takes_until(operation, described["components"]["schemas"])
    ]
    assert len(taking) > 6
    for method, path in taking:
        for until, is_refused in (("2026-02-12T23:59:59.999999Z", True), ("2026-02-13", False)):
            span = {"since": "2026-02-13", "until": until}
            sent: Json = {"params": span} if method == "get" else {"json": span}
            answer = client.request(method, path, **sent)
            # Of what else it needs it may lack something.
            faults = {one["pointer"]: one["detail"] for one in answer.json().get("errors", ())}
            found = faults.get("?until" if method == "get" else "/until", "")
            assert ("before `since`" in found) == is_refused, (path, faults)


@pytest.mark.parametrize("given", ["mine-1", "a" * 101, "two words", ""])
def test_a_request_keeps_its_own_id_if_it_is_one(client: httpx.Client, given: str) -> None:
    good = client.get("/health/live", headers={"X-Request-ID": given})
    bad = client.get("/nope", headers={"X-Request-ID": given})
    for answer in (good, bad):
        told = answer.headers["x-request-id"]
        assert told == given if given == "mine-1" else told not in {given, ""}


@pytest.mark.parametrize(
    "source",
    [
        "../a.md", "a/../../b.md", "a\\..\\b.md", "/etc/a.md", "\\\\etc\\a.md", "C:\\a.md",
        "~/a.md", ".", "./", "", "a\nb.md",
    ],
)  # fmt: skip
def test_a_source_name_that_leads_out_is_refused(client: httpx.Client, source: str) -> None:
    body = {"source": source, "text": "# A\n\nwords\n"}
    problem = _check(client.post("/ingest", json=body), 422)
    assert problem["errors"][0]["pointer"] == "/source"


def test_every_text_is_stored_and_found_verbatim(client: httpx.Client) -> None:
    for number, text in enumerate(INJECTIONS):
        words = f"needle{number} {text}"
        body = {
            "text": words, "title": text, "scope": text, "session": text, "source_ref": text,
            "tags": [text],
            "concepts": [text], "sensitivity": text, "agent": "injected",
        }  # fmt: skip
        key = client.post("/memories", json=body).json()["id"]
        asked = {"query": words, "agent": "injected", "scope": text, "tags": [text]}
        for path in ("/search", "/graph-recall"):
            [hit] = client.post(path, json=asked).json()["results"]
            assert (hit["id"], hit["content"], hit["title"]) == (key, words, text)
            assert (hit["scope"], hit["session"], hit["tags"]) == (text, text, [text])
            assert hit["source"]["ref"] == text
        named = client.get("/concepts", params={"agent": "injected", "q": text})
        assert named.status_code == 200
        source = text.translate({ord(c): None for c in "/\\"}).replace("..", "") + ".md"
        pushed = {"source": source, "text": f"# {text}\n\n{words}\n", "agent": "pushed"}
        assert client.post("/ingest", json=pushed).json()["created"] == 1
        document = client.get("/documents", params={"path": source, "agent": "pushed"}).json()
        assert document["text"] == f"# {text}\n\n{words}"
    assert client.get("/stats", params={"agent": "injected"}).json()["memories"] == len(INJECTIONS)


def test_a_request_that_is_too_large_is_refused_before_it_is_read(start: Start) -> None:
    client = start(max_request_bytes=50_000, max_source_bytes=20_000).client
    announced = client.post("/memories", json={"text": "x" * 60_000})
    chunks = client.post("/memories", content=(b"x" * 10_000 for _ in range(9)), headers=JSON)
    for answer in (announced, chunks):
        assert "MEMORY_MAX_REQUEST_BYTES" in _check(answer, 413)["detail"]
    document = client.post("/ingest", json={"source": "a.md", "text": "x" * 30_000})
    assert "MEMORY_MAX_SOURCE_BYTES" in _check(document, 413)["detail"]
    assert client.get("/stats").json()["memories"] == 0


def test_bad_files_are_told_and_the_good_ones_are_taken(start: Start, tmp_path: Path) -> None:
    notes, outside = tmp_path / "notes", tmp_path / "outside"
    for folder in (notes, outside):
        folder.mkdir()
    (outside / "secret.md").write_text("# Secret\n\nthe password\n", encoding="utf-8")
    (notes / "good.md").write_text("# Good\n\nwords\n", encoding="utf-8")
    (notes / "binary.md").write_bytes(b"\x89PNG\r\n\x00\x00" * 100)
    (notes / "latin.md").write_bytes("# Caf\xe9\n".encode("latin-1"))
    (notes / "empty.md").touch()
    (notes / "link.md").symlink_to(outside / "secret.md")
    (notes / "folder").symlink_to(outside)
    (notes / "dangling.md").symlink_to(tmp_path / "nothing.md")
    with (notes / "huge.md").open("wb") as huge:
        os.truncate(huge.fileno(), 50_000_000)
    client = start(sources=(notes,)).client
    answer = client.post("/ingest/scan").json()
    told = {failure["source"]: failure["detail"] for failure in answer["failed"]}
    assert told.keys() == {
        "binary.md", "latin.md", "link.md", "folder", "dangling.md", "huge.md",
    }  # fmt: skip
    assert "out of its folder" in told["folder"]
    assert "NUL" in told["binary.md"]
    assert "UTF-8" in told["latin.md"]
    assert "MEMORY_MAX_SOURCE_BYTES" in told["huge.md"]
    assert (answer["files"], answer["created"]) == (8, 1)
    assert [m["title"] for m in client.get("/memories").json()["memories"]] == ["Good"]
    for path in ("../outside", "../outside/secret.md", "/etc", "folder", "link.md", "none.md"):
        answer = client.post("/ingest/scan", json={"paths": [path]})
        assert "MEMORY_SOURCES" in _check(answer, 404)["detail"]

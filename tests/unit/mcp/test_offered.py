"""Tools without a protocol and without a service: what they take, cut, tell and ask."""

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import ValidationError

from service.client.endpoints import AsyncGraphMemory
from service.client.errors import Problem, Refusal, Unavailable
from service.client.options import Project
from service.errors import CannotStart, FieldError
from service.mcp.failures import told, told_invalid
from service.mcp.offered import chatgpt
from service.mcp.offered.arguments import PlacedArguments
from service.mcp.offered.asking import Asking
from service.mcp.offered.chatgpt import search
from service.mcp.offered.get import GetArguments, memory_get
from service.mcp.offered.hot import read_hot
from service.mcp.offered.search import SearchArguments, memory_search
from service.mcp.offered.table import ALWAYS, BY_CHOICE, offered
from service.mcp.route import Mcp
from service.settings import Settings

pytestmark = pytest.mark.anyio


class Recorded:
    """A service that notes what it is asked, and answers the same each time."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.bodies: list[Any] = []
        self._answer = answer

    def asking(self, **more: Any) -> Asking:
        """Return what a tool is called with."""
        transport = httpx.MockTransport(self._reply)
        return Asking(AsyncGraphMemory("http://test", transport=transport), **more)

    def _reply(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content or "{}") or dict(request.url.params))
        return httpx.Response(200, json=self._answer)


NOTHING = {
    "results": [],
    "confidence": 0.0,
    "receipt": {"missing_signals": ["vector"]},
    "intents": [],
}


@pytest.mark.parametrize(
    "given",
    [
        {"query": "5", "tags": '["a", "b"]', "limit": "7", "new_only": "true", "kinds": ["fact"]},
        {"query": "5", "tags": ["a", "b"], "limit": 7, "new_only": True, "kinds": '["fact"]'},
    ],
)
def test_lists_and_numbers_that_come_as_texts_are_read(given: dict[str, Any]) -> None:
    read = SearchArguments.model_validate(given)
    assert (read.query, read.tags, read.limit, read.new_only) == ("5", ["a", "b"], 7, True)
    assert read.kinds == ["fact"]


@pytest.mark.parametrize(
    "given",
    [{"query": "a", "limit": "[" * 100_000}, {"query": "a", "tags": "{"}, {"query": None}, {}],
)
def test_what_does_not_fit_is_refused_without_its_value(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as raised:
        SearchArguments.model_validate(given)
    words = told_invalid(raised.value)
    assert words.startswith("The arguments do not fit: ")
    assert len(words) < 300
    assert "[[" not in words


@pytest.mark.parametrize("given", [{}, {"id": "a", "path": "b.md"}])
def test_one_of_two_is_asked_for_whether_none_or_both_are_given(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as raised:
        GetArguments.model_validate(given)
    assert told_invalid(raised.value) == "The arguments do not fit: give either `id` or `path`."


async def test_where_a_call_is_counts_unless_it_says_another_place() -> None:
    service = Recorded(NOTHING)
    known: Project = {"origin": "git@x:a/b.git", "root": "/srv/b"}
    asking = service.asking(place={"agent": "ann", "project": known})
    for given in (
        {}, {"agent": "bob"}, {"project": "app"}, {"scope": "gpu"}, {"session": "s-1"},
    ):  # fmt: skip
        found = await memory_search(asking, SearchArguments(query="crane", **given))
    first, agent, project, scope, session = service.bodies
    assert (first["agent"], first["project"]) == ("ann", known)
    # A query has one text for all that is known of it.
    in_query = asking.where_in_query(PlacedArguments())
    assert json.loads(in_query["project"]) == known
    assert agent["agent"] == "bob"
    assert project["project"] == "app"
    assert "project" not in scope
    assert session["new_only"] is False
    assert "Not searched by vector" in found.as_text()


@pytest.mark.parametrize(
    "text",
    [
        "x" * 50_000, "\n" * 50_000, ("a line\n" * 10_000)[:-1], "", "one", f"\n{'x' * 50_000}\n",
        f"a\n{'x' * 20_000}\n{'y' * 20_001}\nb",
    ],
)  # fmt: skip
async def test_pieces_of_a_memory_make_it_whole(text: str) -> None:
    source = {"uri": None, "line_start": None, "line_end": None, "ref": None}
    facts: dict[str, Any] = {
        "kind": "note",
        "scope": None,
        "tags": [],
        "occurred_at": "2026-02-13T00:00:00Z",
    }
    names = ("concepts", "before", "after", "heading_path")
    lists: dict[str, Any] = {name: [] for name in names}
    memory = {
        "id": "m", "title": "t", "content": text, "source": source, "origin": "agent",
        "trust_tier": "trusted", **facts, **lists,
    }  # fmt: skip
    asking, start, whole = Recorded(memory).asking(), {"from": 1}, ""
    for _ in range(10):
        read = await memory_get(asking, GetArguments.model_validate({"id": "m", **start}))
        assert len(read.text) <= 20_000
        whole += read.text
        if read.next_from is None:
            break
        start = {"from": read.next_from, "from_character": read.next_character}
        assert f"line {read.next_from} of" in read.as_text()
        whole += "" if read.next_character else "\n"
    assert whole == text


async def test_chatgpt_is_told_by_headings_what_it_may_fetch() -> None:
    """It reads nothing else of a result: "Consequences" alone does not say of what."""
    source = {"uri": "decisions/1.md", "line_start": 9, "line_end": 9, "ref": None}
    hit = {
        "id": "m", "heading_path": ["Nomad", "Consequences"], "title": "Consequences (rejected)",
        "source": source, "occurred_at": "2026-02-13T00:00:00Z", "trust_tier": "untrusted",
    }  # fmt: skip
    asking = Recorded(NOTHING | {"results": [hit]}).asking()
    [found] = (await search(asking, chatgpt.SearchArguments(query="nomad"))).results
    assert found.title == "Nomad › Consequences (rejected) (untrusted)"


async def test_an_address_that_is_no_resource_is_none() -> None:
    asking = Recorded({}).asking()
    for uri in (
        "graph-memory://passwords", "file:///etc/passwd", "graph-memory://handoff/../keys",
        "graph-memory://handoff?scope=other", "graph-memory://handoff?project=a&project=b",
        "handoff", "http://handoff", "graph-memory://[",
    ):  # fmt: skip
        assert await read_hot(asking, uri) is None


def test_failures_say_what_to_do() -> None:
    late = Problem(Refusal("/problems/a", "Too much", 429, "20 a minute.", retry_after_seconds=3))
    assert told(late) == "Too much: 20 a minute. Ask again in 3 s."
    wrong = (FieldError("/text", "Is empty."),)
    assert (
        told(Problem(Refusal("/p", "Unfit", 422, "x", errors=wrong))) == "Unfit: /text: Is empty."
    )
    assert "MEMORY_API_KEY" in told(Problem(Refusal("/p", "No key", 401, "Send a key.")))
    assert told(Unavailable("No service answers.")) == "No service answers."


def test_tools_are_chosen_by_name() -> None:
    assert offered(()) == ALWAYS
    assert offered(("all",)) == ALWAYS + BY_CHOICE
    assert [one.name for one in offered(("fix_lookup",))][-1] == "fix_lookup"
    with pytest.raises(CannotStart, match="there is no memory_burn"):
        offered(("memory_burn",))
    # Before the first message: at the start.
    with pytest.raises(CannotStart, match="there is no memory_burn"):
        Mcp(FastAPI(), Settings(_env_file=None, mcp_tools=("memory_burn",)))


def test_every_tool_says_in_few_words_what_it_takes() -> None:
    every = ALWAYS + BY_CHOICE
    assert len({one.name for one in every}) == len(every)
    for one in every:
        schema = json.dumps(one.input_schema)
        assert len(schema) + len(one.description) < 1_600
        assert "null" not in schema
        assert one.reads != (one.destroys or one.name in {
            "memory_store", "handoff_write", "decision_log", "observe",
        })  # fmt: skip
    assert issubclass(ALWAYS[0].takes, PlacedArguments)

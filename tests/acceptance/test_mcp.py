"""MCP with the official client: the same tools over HTTP and stdio, in both eras."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from jsonschema_rs import validator_for
from mcp import Client, MCPError
from mcp_types import Tool

from service.mcp.offered.table import ALWAYS, BY_CHOICE
from tests.conftest import Start
from tests.servers.mcp_clients import ERAS, Era, Person, over_http, over_stdio, text_of, told
from tests.servers.running import RunningService, running_service

pytestmark = pytest.mark.anyio

WAYS = ("http", "stdio")
BUNNY = "JR's code phrase is blue bunny."
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="module")
def everything(
    tmp_path_factory: pytest.TempPathFactory, embedding_url: str
) -> Iterator[RunningService]:
    """Yield a service that offers every tool."""
    folder = tmp_path_factory.mktemp("mcp")
    with running_service(
        data_dir=folder / "data", embedding_url=embedding_url, mcp_tools=("all",)
    ) as running:
        yield running


@pytest.fixture(params=[(way, era) for way in WAYS for era in ERAS], ids="-".join)
def connect(request: pytest.FixtureRequest, everything: RunningService) -> Connect:
    """Return what connects to that service, in one way and one era."""
    way, era = request.param

    @asynccontextmanager
    async def connected(person: Person | None = None) -> AsyncIterator[Client]:
        if way == "http":
            async with over_http(everything.url, era, person=person) as client:
                yield client
            return
        environment = {"MEMORY_MCP_TOOLS": "all"}
        words = ("--url", everything.url, "--project", "none")
        async with over_stdio(environment, era, words=words, person=person) as client:
            yield client

    return connected


def own_agent(request: pytest.FixtureRequest) -> str:
    """Return an agent that no other test has."""
    return f"agent-{abs(hash(request.node.name))}"


async def test_what_is_told_in_one_session_is_known_in_another(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    agent = own_agent(request)
    async with connect() as first:
        assert (await told(first, "memory_store", text=BUNNY, agent=agent))["action"] == "created"
    async with connect() as second:
        found = await told(second, "memory_search", query="what is the code phrase?", agent=agent)
        [memory] = found["memories"]
        # A title of its own it has not; how the text begins is not said twice.
        assert (memory["title"], memory["text"]) == ("", BUNNY)
        whole = await told(second, "memory_get", id=memory["id"], agent=agent)
        assert (whole["memory"]["title"], whole["text"]) == ("", BUNNY)
        recalled = await told(second, "graph_recall", query="code phrase", agent=agent)
        assert [one["text"] for one in recalled["memories"]] == [BUNNY]
        begun = await told(second, "session_context", agent=agent)
        assert "blue bunny" in begun["text"]


async def test_a_context_that_says_nothing_says_why(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    own = {"agent": own_agent(request), "session": "s1"}
    async with connect() as client:
        await told(client, "memory_store", text=BUNNY, agent=own["agent"])
        asked: dict[str, Any]
        for asked, why in (
            ({"max_chars": 20}, "Nothing of what is known fits."), ({}, None),
            ({"source": "resume"}, "Nothing is new to this session."),
        ):  # fmt: skip
            assert (await told(client, "session_context", **own, **asked))["why_empty"] == why
        said = await client.call_tool("session_context", {**own, "source": "resume"})
        assert text_of(said) == "Nothing is new to this session."


async def test_what_is_remembered_for_a_project_is_found_in_that_one(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    agent = own_agent(request)
    app, other = "git@github.com:ann/app.git", "https://github.com/ann/other"
    async with connect() as client:
        await told(client, "memory_store", text=BUNNY, agent=agent, project=app)
        for project, found in ((app, 1), (other, 0)):
            asked = {"query": "code phrase", "agent": agent, "project": project}
            assert len((await told(client, "memory_search", **asked))["memories"]) == found


async def test_every_tool_says_what_it_is_and_keeps_its_schemas(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    agent = own_agent(request)
    calls = {
        "memory_store": {"text": BUNNY}, "memory_search": {"query": "phrase"},
        "memory_get": {"id": "?"}, "graph_recall": {"query": "phrase"}, "session_context": {},
        "memory_recall": {"query": "phrase"}, "handoff_write": {"text": "Next: the release."},
        "handoff_read": {}, "decision_log": {"text": "We use tabs."}, "decision_list": {},
        "observe": {
            "session": "s", "text": '{"role": "user", "content": "From now on use tabs."}\n',
        },
        "fix_lookup": {"output": "Error: no such module"}, "search": {"query": "phrase"},
        "fetch": {"id": "?"}, "memory_forget": {"query": "phrase"},
    }  # fmt: skip
    async with connect() as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert tools.keys() == calls.keys() == {one.name for one in ALWAYS + BY_CHOICE}
        key = (await told(client, "memory_store", text=BUNNY))["id"]
        for name, told_of in calls.items():
            tool = tools[name]
            given = {**told_of, **({} if name in {"search", "fetch"} else {"agent": agent})}
            if "id" in given:
                given = {"id": key}
            _check_description(tool)
            validator_for(tool.input_schema).validate(given)
            result = await client.call_tool(name, given)
            assert not result.is_error, text_of(result)
            assert tool.output_schema is not None
            validator_for(tool.output_schema).validate(result.structured_content)
            assert text_of(result)


def _check_description(tool: Tool) -> None:
    hints = tool.annotations
    assert hints is not None
    assert tool.title
    assert tool.description
    assert isinstance(hints.read_only_hint, bool)
    assert hints.destructive_hint is (tool.name == "memory_forget")
    assert hints.open_world_hint is False


async def test_a_forget_is_confirmed_where_the_client_can_ask(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    agent = own_agent(request)
    person, refusing = Person("Thursday"), Person(None)
    async with connect(refusing) as client:
        for text in ("The bins go out on Thursday.", "The bins are green."):
            await told(client, "memory_store", text=text, agent=agent)
        kept = await told(client, "memory_forget", query="bins", agent=agent)
        assert kept["action"] == "kept"
        assert len(refusing.asked) == 1
    async with connect(person) as client:
        gone = await told(client, "memory_forget", query="bins", agent=agent)
        assert gone["action"] == "forgotten"
        assert person.asked[0]["options"][-1].endswith("None of them")
        found = await told(client, "memory_search", query="bins", agent=agent)
        assert [one["text"] for one in found["memories"]] == ["The bins are green."]


async def test_a_forget_by_words_only_shows_candidates_elsewhere(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    agent = own_agent(request)
    async with connect() as client:
        await told(client, "memory_store", text=BUNNY, agent=agent)
        shown = await told(client, "memory_forget", query="code phrase", agent=agent)
        assert shown["action"] == "candidates"
        assert (
            len((await told(client, "memory_search", query="phrase", agent=agent))["memories"]) == 1
        )
        key = shown["candidates"][0]["id"]
        assert (await told(client, "memory_forget", id=key, agent=agent))["action"] == "forgotten"
        assert (await told(client, "memory_search", query="phrase", agent=agent))["memories"] == []
        again = await client.call_tool("memory_forget", {"id": key, "agent": agent})
        assert again.is_error
        shown = await told(client, "memory_forget", query="code phrase", agent=agent)
        assert shown["action"] == "not_found"
        asked = {"text": "What is the phrase?", "kind": "handoff", "tags": ["automatic"]}
        await told(client, "memory_store", **asked, agent=agent)
        assert (await told(client, "memory_search", query="phrase", agent=agent))["memories"] == []
        shown = await told(client, "memory_forget", query="phrase", agent=agent)
        assert [one["text"] for one in shown["candidates"]] == ["What is the phrase?"]


async def test_what_is_near_at_hand_is_a_resource_and_the_start_a_prompt(
    connect: Connect, request: pytest.FixtureRequest
) -> None:
    agent = own_agent(request)
    async with connect() as client:
        await told(client, "handoff_write", text="Next: the release.", agent=agent, project="app")
        await told(client, "decision_log", text="We use tabs.", agent=agent, project="app")
        listed = (await client.list_resources()).resources
        assert [str(one.uri).partition("://")[2] for one in listed] == [
            "handoff", "working-memory", "decisions", "hot-memory",
        ]  # fmt: skip
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == len(listed)
        texts = {}
        for one in listed:
            [content] = (
                await client.read_resource(f"{one.uri}?project=app&agent={agent}")
            ).contents
            texts[one.name] = getattr(content, "text", "")
        assert "Next: the release." in texts["handoff"]
        assert "We use tabs." in texts["decisions"]
        assert all(text.startswith("<graph-memory-context ") for text in texts.values())
        with pytest.raises(MCPError, match="Unknown resource"):
            await client.read_resource("graph-memory://passwords")
        [prompt] = (await client.list_prompts()).prompts
        given = {"project": "app"}
        begun = await client.get_prompt(prompt.name, given)
        assert begun.messages[0].role == "user"


async def test_what_is_wrong_is_said_with_what_to_do(connect: Connect) -> None:
    wrong: dict[str, tuple[str, dict[str, Any]]] = {
        "qery: Extra inputs": ("memory_search", {"query": "a", "qery": "b"}),
        "less than or equal to 20": ("memory_search", {"query": "a", "limit": 1000}),
        "give either `id` or `path`": ("memory_get", {}),
        "There is no memory with id": ("memory_get", {"id": "nope"}),
        "id: an id is one word": ("memory_get", {"id": ""}),
        "as a search gives it": ("memory_get", {"id": f"{'0' * 32}/lineage"}),
        "memory with id '?'": ("memory_get", {"id": "?"}),
        "`id` or `query`": ("memory_forget", {"id": "a", "query": "b"}),
        "an id is one word": ("memory_forget", {"id": "../keys"}),
        "No document": ("memory_get", {"path": "memory/none.md"}),
        "write 2026-02-13": ("memory_search", {"query": "a", "since": "yesterday-ish"}),
        "Is empty": ("memory_store", {"text": "  "}),
    }
    async with connect() as client:
        for words, (name, given) in wrong.items():
            result = await client.call_tool(name, given)
            assert result.is_error
            assert words in text_of(result)
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("memory_burn", {})


@pytest.mark.parametrize("era", ERAS)
async def test_answers_are_bounded(everything: RunningService, era: Era) -> None:
    long = "\n".join(f"Line {number} of the long document." for number in range(2_000))
    body = {"source": "long.md", "text": f"# Long\n\n{long}\n", "agent": "long"}
    assert everything.client.post("/ingest", json=body).status_code == 200
    memory = {"text": "flood " * 20_000, "agent": "long"}
    key = everything.client.post("/memories", json=memory).json()["id"]
    async with over_http(everything.url, era) as client:
        found = await client.call_tool(
            "memory_search", {"query": "flood line", "agent": "long", "limit": 20}
        )
        assert len(text_of(found)) < 60_000
        read = await told(client, "memory_get", path="long.md", agent="long")
        assert len(read["text"]) <= 20_000
        pieces = [read["text"]]
        while start := read["next_from"]:
            read = await told(client, "memory_get", path="long.md", agent="long", **{"from": start})
            pieces.append(read["text"])
        assert "\n".join(pieces).strip() == body["text"].strip()
        one = await told(client, "memory_get", id=key, agent="long")
        assert len(one["text"]) <= 20_000


async def test_a_memory_longer_than_an_answer_is_found(
    everything: RunningService, agent: str
) -> None:
    said = "The flood line of the harbour is at 3.2 metres. "
    body = {"text": said + "Much else was said there. " * 1_000, "agent": agent}
    key = everything.client.post("/memories", json=body).json()["id"]
    short = [{"text": f"Harbour note {n}. " * 100, "agent": agent} for n in range(19)]
    asked = {"query": "flood line of the harbour", "agent": agent, "limit": 20}
    async with over_http(everything.url) as client:
        [one] = (await told(client, "memory_search", **asked))["memories"]
        assert (one["id"], one["is_cut"], len(one["text"])) == (key, True, 2_000)
        assert one["text"].startswith(said)
        everything.client.post("/memories/batch", json={"memories": short})
        many = (await told(client, "memory_search", **asked))["memories"]
        assert key in {one["id"] for one in many}
        assert 10_000 < sum(len(one["text"]) for one in many) <= 20_000


async def test_a_part_says_below_which_heading_it_stands(
    everything: RunningService, agent: str
) -> None:
    paragraph = "It holds for as long as the crane stands still. " * 12
    above = "# Crane\n\n## Options\n\n#### brake-delay"
    text = f"{above}\n\n{paragraph}\n\n{paragraph}Say zebra to end it.\n"
    body = {"source": "docs/crane-control.md", "text": text, "agent": agent}
    everything.client.post("/ingest", json=body).raise_for_status()
    asked = {"query": "zebra brake-delay", "agent": agent, "limit": 1}
    async with over_http(everything.url) as client:
        [one] = (await told(client, "memory_search", **asked))["memories"]
        assert one["text"].endswith("zebra to end it.")
        assert one["title"] == "Crane › Options › brake-delay"
        read = await told(client, "memory_get", id=one["id"], agent=agent)
        assert read["memory"]["title"] == "Crane › Options › brake-delay"


async def test_six_tools_are_offered_unless_more_are_chosen(start: Start) -> None:
    service = start(mcp_tools=("handoff_read",))
    async with over_http(service.url) as client:
        names = [one.name for one in (await client.list_tools()).tools]
    assert names == [
        "memory_search", "memory_get", "memory_store", "memory_forget", "graph_recall",
        "session_context", "handoff_read",
    ]  # fmt: skip


async def test_over_stdio_the_project_is_that_of_the_folder(
    everything: RunningService, tmp_path: Any
) -> None:
    (tmp_path / ".graph-memory.toml").write_text('project = "harbour"\nagent = "folder"\n')
    words = ("--url", everything.url)
    async with over_stdio({}, words=words, folder=str(tmp_path)) as client:
        await told(client, "memory_store", text=BUNNY)
        begun = await told(client, "session_context")
    assert begun["scope"] == "harbour"
    [memory] = everything.client.get("/memories", params={"agent": "folder"}).json()["memories"]
    assert memory["client"] == "test-client"


async def test_over_stdio_a_service_that_is_away_is_told_by_the_tool() -> None:
    async with over_stdio({}, words=("--url", "http://127.0.0.1:9", "--project", "none")) as client:
        result = await client.call_tool("memory_search", {"query": "phrase"})
    assert result.is_error
    assert "graph-memory serve" in text_of(result)

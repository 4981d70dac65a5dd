"""What OpenClaw's plugin is told at the turns of a session, in the words of its gateway's hooks."""

from typing import Any

import httpx
import pytest

Json = dict[str, Any]
BUNNY = "The code phrase for the lighthouse is blue bunny."


def hook(client: httpx.Client, agent: str, event: str, **more: Any) -> Json:
    """Send a hook as the plugin carries it."""
    body = {
        "event": event, "agent_id": agent, "session_id": "s1", "workspace_dir": f"/srv/{agent}",
    }  # fmt: skip
    answer = client.post("/hooks/openclaw", json=body | more)
    assert answer.status_code == 200, answer.text
    reply: Json = answer.json()
    return reply


def test_a_session_is_told_its_context_and_each_memory_once(client: httpx.Client) -> None:
    agent = "claw"
    for text, kind in ((BUNNY, "fact"), ("Always answer in Latin.", "preference")):
        body = {"text": text, "kind": kind, "agent": agent, "scope": f"/srv/{agent}"}
        assert client.post("/memories", json=body).status_code == 201
    begun = hook(client, agent, "session_start", graph_memory={"max_chars": 400})
    assert begun.keys() == {"appendSystemContext"}
    text = begun["appendSystemContext"]
    assert "Always answer in Latin." in text
    assert text.startswith("<graph-memory-context")
    assert len(text) <= 400

    asked = "What is the code phrase for the lighthouse?"
    first = hook(client, agent, "before_prompt_build", prompt=asked, session_id="s2")
    assert first.keys() == {"prependContext"}
    assert first["prependContext"].count("blue bunny") == 1
    assert hook(client, agent, "before_prompt_build", prompt=asked, session_id="s2") == {}
    assert hook(client, agent, "before_prompt_build", prompt="thanks!", session_id="s3") == {}
    assert hook(client, "other-claw", "before_prompt_build", prompt=asked) == {}

    [one] = client.get("/clients", params={"agent": agent}).json()["clients"]
    assert one["client"] == "openclaw"
    assert one["injections"] == 2


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"event": 7}', b'{"event": "session_end"}', b'{"event": null}']
)
def test_a_hook_of_no_version_that_there_is_is_answered_with_nothing(
    client: httpx.Client, body: bytes
) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/hooks/openclaw", content=body, headers=headers)
    assert (answer.status_code, answer.json()) == (200, {})

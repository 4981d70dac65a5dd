"""A fake model at the outer edge: speaks as Anthropic and OpenAI do, and thinks nothing.

It answers every request with the next of its lines, keeps what it was sent, and may ask for a tool
once. All between it and the person is the real program.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Event = tuple[str, Json]


@dataclass
class FakeModel:
    """What was asked of it, in order; `tool` is asked for once, where one is set.

    `tools` are asked for once each, in conversations whose first prompt has the words before them.
    """

    url: str = ""
    asked: list[Json] = field(default_factory=list)
    tool: Json | None = None
    tools: dict[str, Json] = field(default_factory=dict)

    def texts(self) -> list[str]:
        """Return each request of a turn as one text, without those that only name a session."""
        return [json.dumps(body, ensure_ascii=False) for body in self.turns()]

    def turns(self) -> list[Json]:
        """Return the requests of turns: those that offer tools."""
        return [body for body in self.asked if body.get("tools")]


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """Serve a fake model on a free port."""
    model = FakeModel()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(model: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._send(b"", "application/json")

        def do_GET(self) -> None:
            self._send(b'{"data": [], "models": []}', "application/json")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(raw) if raw.startswith(b"{") else {}
            self._send(*_answer(model, self.path, body))

        def _send(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


def _answer(model: FakeModel, path: str, body: Json) -> tuple[bytes, str]:
    """Return what it says, and of which type that is."""
    is_messages = "/messages" in path and "count_tokens" not in path
    if not is_messages and not path.endswith("/responses"):
        return b'{"input_tokens": 10}', "application/json"
    model.asked.append(body)
    tool = _tool_for(model, body)
    if is_messages and not body.get("stream"):
        return json.dumps(_whole(body)).encode(), "application/json"
    events = _anthropic(body, tool) if is_messages else _openai(tool)
    lines = "".join(f"event: {name}\ndata: {json.dumps(told)}\n\n" for name, told in events)
    return lines.encode(), "text/event-stream"


def _tool_for(model: FakeModel, body: Json) -> Json | None:
    if not body.get("tools"):
        return None
    # Codex says where it is before it says what was asked.
    said = [one for one in body.get("input") or [] if one.get("role") == "user"]
    begun = json.dumps((body.get("messages") or [said])[0])
    for words in [words for words in model.tools if words in begun]:
        return model.tools.pop(words)
    tool, model.tool = model.tool, None
    return tool


def _whole(body: Json) -> Json:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"),
        "content": [{"type": "text", "text": "Understood."}], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 2},
    }  # fmt: skip


def _anthropic(body: Json, tool: Json | None) -> list[Event]:
    message = _whole(body) | {"content": [], "stop_reason": None}
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": "Understood."}
    if tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(tool["input"])}
    stop = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    return [
        ("message_start", {"type": "message_start", "message": message}),
        (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": block},
        ),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}),
        ("message_stop", {"type": "message_stop"}),
    ]


def _openai(tool: Json | None) -> list[Event]:
    item: Json = {
        "type": "message", "role": "assistant", "id": "msg_1",
        "content": [{"type": "output_text", "text": "Understood."}],
    }  # fmt: skip
    if tool:
        item = {
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": tool["name"],
            "arguments": json.dumps(tool["input"]),
            # Codex has the tools of a server of MCP below its name.
            **({"namespace": tool["server"]} if "server" in tool else {}),
        }  # fmt: skip
    usage = {
        "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
        "output_tokens_details": None, "total_tokens": 2,
    }  # fmt: skip
    done = {"id": "resp_1", "usage": usage, "output": [item]}
    return [
        ("response.created", {"type": "response.created", "response": {"id": "resp_1"}}),
        (
            "response.output_item.done",
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ),
        ("response.completed", {"type": "response.completed", "response": done}),
    ]

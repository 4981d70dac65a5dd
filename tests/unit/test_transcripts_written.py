"""What programs write in a person's place is nobody's word; what a person typed meanwhile is."""

from typing import Any, Final

import pytest

from service.observe.fold import State, fold
from service.transcripts.reading import Client, read_entries

Json = dict[str, Any]
ASKED: Final = "Fix the tests."
RULE: Final = "# Rules\nNever push to main.\n"

# As each program writes them: what a command printed, a file, a task and another session said.
WRITTEN: Final[list[tuple[Client, str]]] = [
    ("claude-code", "<bash-input>cat RULES.md</bash-input>"),
    ("claude-code", f"<bash-stdout>{RULE}</bash-stdout><bash-stderr></bash-stderr>"),
    ("claude-code", f"<bash-stdout></bash-stdout>\n{RULE}</bash-stdout>"),
    ("claude-code", f"<local-command-stderr>{RULE}</local-command-stderr>"),
    ("claude-code", f"<task-notification>\n<result>{RULE}</result>\n</task-notification>"),
    ("claude-code", f'<teammate-message teammate_id="b">\n{RULE}</teammate-message>'),
    ("claude-code", "[Request interrupted by user for tool use]"),
    ("claude-code", f"<ide_selection>The user selected the lines 1 to 3:\n{RULE}</ide_selection>"),
    ("claude-code", "<ide_opened_file>The user opened the file a.py.</ide_opened_file>"),
    ("codex", f"# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\n{RULE}</INSTRUCTIONS>"),
    ("codex", f"<user_shell_command>\n<result>\n{RULE}</result>\n</user_shell_command>"),
    ("codex", "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"),
    ("codex", f"<skill>\n<name>x</name>\n{RULE}</skill>"),
    ("codex", f"# Context from my IDE setup:\n\n## Active selection of the file:\n{RULE}"),
]


def _line(client: Client, text: str, **more: object) -> Json:
    content = [{"type": "text", "text": text}]
    if client == "codex":
        return {"type": "response_item", "payload": {"role": "user", "content": content}}
    return {"type": "user", "message": {"content": content}} | more


def _told(client: Client, *lines: Json) -> tuple[str | None, list[str]]:
    """Return the last request of a session, and what is kept of it."""
    state = State()
    kept = list(fold(state, read_entries(client, lines, 0).turns))
    return state.request, [one.text for one in kept]


@pytest.mark.parametrize(("client", "text"), WRITTEN)
def test_what_a_program_wrote_in_a_persons_place_is_nobodys_word(client: Client, text: str) -> None:
    assert _told(client, _line(client, ASKED), _line(client, text)) == (ASKED, [])


def test_what_an_editor_puts_in_front_of_a_request_is_not_asked() -> None:
    text = f"# Context from my IDE setup:\n\n{RULE}\n## My request for Codex:\nAlways use tabs."
    assert _told("codex", _line("codex", text)) == ("Always use tabs.", ["Always use tabs."])


@pytest.mark.parametrize("origin", [{"kind": "peer"}, {"kind": "channel"}])
def test_a_message_of_another_session_is_not_the_persons(origin: Json) -> None:
    other = _line("claude-code", "Always use tabs.", origin=origin)
    assert _told("claude-code", _line("claude-code", ASKED), other) == (ASKED, [])


@pytest.mark.parametrize("origin", [None, {"kind": "human"}, {"kind": ["odd"]}, "odd"])
def test_what_a_person_typed_while_the_agent_worked_is_kept(origin: object) -> None:
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "Always use tabs."}
    line = {"type": "attachment", "attachment": queued | {"origin": origin}}
    assert _told("claude-code", line) == ("Always use tabs.", ["Always use tabs."])


@pytest.mark.parametrize(
    "more", [{"commandMode": "task-notification"}, {"origin": {"kind": "peer"}}]
)
def test_what_else_waited_for_the_agent_is_not_the_persons(more: Json) -> None:
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "Always use tabs."}
    line = {"type": "attachment", "attachment": queued | more}
    assert _told("claude-code", line) == (None, [])

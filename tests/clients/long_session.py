"""A session of many prompts through a real program, and what of memory came into it."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from service.text.tokens import estimate_prompt_tokens
from tests.clients.conftest import Machine
from tests.servers.real_programs import program
from tests.servers.running import RunningService

Json = dict[str, Any]
# Enough for a question each of which one memory surely answers, and then for old ones again.
PLACES: Final = (
    "harbour", "lighthouse", "quarry", "bakery", "orchard", "museum", "library", "observatory",
    "brewery", "mill", "chapel", "stable", "foundry", "aquarium", "theatre", "sawmill",
)  # fmt: skip
THINGS: Final = ("red lantern", "brass key", "ferry ticket", "tide table", "spare rope")
SMALL: Final = ("thanks!", "Go on.", "ok", "Fold a paper crane out of a newspaper, step by step.")
_BLOCK: Final = re.compile(r"<graph-memory-context.*?</graph-memory-context>", re.DOTALL)


def notes() -> list[str]:
    """Return the memories that there are beforehand."""
    return [
        f"The {thing} of the {place} lies in drawer {10 * n + m} of the keeper's desk."
        for n, place in enumerate(PLACES)
        for m, thing in enumerate(THINGS)
    ]


def prompts(count: int) -> list[str]:
    """Return prompts: questions that memory answers, old ones again, and what it has no word to."""
    told = []
    for n in range(count):
        if n % 5 == 4:
            told.append(SMALL[n // 5 % len(SMALL)])
        else:
            # From the half on each is asked a second time.
            m = n % (count // 2)
            place, thing = PLACES[m % len(PLACES)], THINGS[m // len(PLACES) % len(THINGS)]
            told.append(f"In which drawer does the {thing} of the {place} lie?")
    return told


def fill(person: Machine, memory: RunningService) -> None:
    """Store the notes as memories of the person's project."""
    own = {"root": str(person.project)}
    body = {"memories": [{"text": text, "project": own} for text in notes()]}
    answer = memory.client.post("/memories/batch", json=body)
    assert answer.json()["created"] == len(notes()), answer.text


@dataclass(frozen=True)
class Told:
    """What the model was sent of memory, by the requests of the turns in their order.

    `tokens` are those of the blocks that are new with a turn, as the service estimates them.
    `changed` are the turns before which something of the conversation was no longer what it was.
    """

    tokens: Sequence[int]
    repeats: Sequence[str]
    changed: Sequence[int]


def look(conversations: Sequence[Sequence[Any]]) -> Told:
    """Compare the conversation of each turn with that of the turn before."""
    blocks = [_BLOCK.findall(_text_of(one)) for one in conversations]
    new = [blocks[0], *(after[len(before) :] for before, after in pairwise(blocks))]
    lines = [
        line
        for block in blocks[-1]
        for line in block.split("## Index")[0].splitlines()
        if line.startswith("- ")
    ]
    changed = [
        turn
        for turn, (before, after) in enumerate(pairwise(map(_bytes_of, conversations)), 1)
        if after[: len(before)] != before
    ]
    return Told(
        [sum(map(estimate_prompt_tokens, one)) for one in new],
        sorted({line for line in lines if lines.count(line) > 1}),
        changed,
    )  # fmt: skip


def _bytes_of(conversation: Sequence[Any]) -> list[bytes]:
    return [json.dumps(_plain(message)).encode() for message in conversation]


def _plain(value: Any) -> Any:
    """Return a message as it is cached: without marks, and a text as the one block that it is."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    told = {name: _plain(one) for name, one in value.items() if name != "cache_control"}
    if isinstance(told.get("content"), str) and "role" in told:
        told["content"] = [{"type": "text", "text": told["content"]}]
    return told


def _text_of(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(map(_text_of, value.values()))
    if isinstance(value, list):
        return "\n".join(map(_text_of, value))
    return value if isinstance(value, str) else ""


def play(person: Machine, client: str, said: Sequence[str]) -> Told:
    """Connect a program of a person, and say prompts to it in one session."""
    if client == "codex":
        person.put_codex()
    else:
        person.put("claude", program("claude"))
    person.graph_memory("connect", client)
    say = _say_to_codex if client == "codex" else _say_to_claude
    return look(say(person, said))


def _say_to_claude(person: Machine, said: Sequence[str]) -> list[list[Any]]:
    """Say prompts to Claude Code in one session; returns the conversation that each turn sent."""
    form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    with subprocess.Popen(
        ["claude", "-p", *form], cwd=person.project, env=person.environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        for prompt in said:
            told = {"type": "user", "message": {"role": "user", "content": prompt}}
            process.stdin.write(json.dumps(told) + "\n")
            process.stdin.flush()
            # What is said before a turn has ended is put to the next one, all in one.
            for line in process.stdout:
                if json.loads(line)["type"] == "result":
                    break
        process.stdin.close()
        assert process.wait(60) == 0
    return [body["messages"] for body in person.model.turns()]


def _say_to_codex(person: Machine, said: Sequence[str]) -> list[list[Any]]:
    """Say prompts to Codex in one session, resumed for each; returns the same."""
    trust = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    first = person.run("codex", "exec", *trust, said[0])
    session = re.search(r"session id: (\S+)", first.stdout + first.stderr)
    assert session
    for prompt in said[1:]:
        person.run("codex", "exec", *trust, "resume", session[1], prompt)
    return [body["input"] for body in person.model.turns()]

"""What a session is told at its turns: its context, memories, a fix, a file's history."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Final

from service.errors import AgentUnknown
from service.fixes.fixes import find_fix
from service.fixes.shell import command_of
from service.hooks.bodies import Hook
from service.hooks.replies import FIX, HISTORY, MEMORIES, block, fix_lines, line_of, line_of_intent
from service.intents.matching import Intent
from service.intents.standing import find_intents, fire
from service.kinds import KINDS
from service.records import Filters, Memory
from service.search.fusion.ranked import Ranked
from service.search.hybrid import Hit, hybrid_search
from service.search.refine.duplicates import Repetitions
from service.search.refine.refining import MOST_TOLD
from service.search.searcher import Searcher, SearchQuery
from service.search.small_talk import is_small_talk
from service.session_context.packing import Budget
from service.session_context.telling import SUB_AGENT, tell
from service.sessions.given import Given
from service.sessions.ledgers import Session
from service.text.context_block import plain
from service.text.file_names import names_file
from service.threads import read_texts
from service.working_memory.texts import Place

# Claude Code shows a file instead of what is longer than 10,000 characters.
_MOST_CHARS: Final = 9_500
_MOST_TOKENS: Final = 900
_MOST_MEMORIES: Final = 3
# What scores less beside the best one is seldom right: docs/decisions/0058.
_LEAST_SHARE: Final = 0.5
_PLENTY: Final = 10_000_000
_MOST_QUESTION: Final = 4_000
# A person waits: past it the words of a question answer without its meaning.
_MEANING_SECONDS: Final = 1.5
# The owner's, an agent's and the service's own: nobody else's words are told unasked.
_ORIGINS: Final = ("owner", "agent", "system")
# A session that begins is told the handoff; its own would come back as an answer to each prompt.
_KINDS: Final = tuple(kind for kind in KINDS if kind != "handoff")
_LEAST_NAME: Final = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a session: the hook, and the place that it is at."""

    searcher: Searcher
    given: Given
    hook: Hook
    place: Place

    @property
    def asked(self) -> Filters:
        """What may be told here unasked."""
        return Filters(
            (self.place.agent,), project=self.place.scope or "", trust=("trusted",),
            origins=_ORIGINS, kinds=_KINDS,
        )  # fmt: skip

    @property
    def budget(self) -> Budget:
        """The room for anything but the context of a session that begins."""
        return Budget(_MOST_TOKENS, self.most_chars)

    @property
    def most_chars(self) -> int:
        """The room that there is, as far as the program takes it."""
        most = self.hook.max_chars
        return _MOST_CHARS if most is None else min(most, _MOST_CHARS)


async def tell_at(turn: Turn) -> str:
    """Return what is told at a turn; empty where there is nothing, or nothing new, to say."""
    deed = _DEEDS.get(turn.hook.event)
    if deed is None:
        return ""
    try:
        return await deed(turn)
    except AgentUnknown:
        # Nothing was ever stored: the first session has nothing to be told.
        return ""


async def _context(turn: Turn) -> str:
    budget = Budget(_PLENTY, turn.most_chars)
    told = await tell(turn.searcher, turn.given, turn.place, turn.hook.source, budget)
    return told.text


async def _sub_agents_context(turn: Turn) -> str:
    """Return the context of a sub-agent, of which there may be many: within a prompt's room."""
    told = await tell(turn.searcher, turn.given, turn.place, SUB_AGENT, turn.budget)
    return told.text


async def _memories(turn: Turn) -> str:
    """Return those of the memories that surely answer a prompt which are new to the session.

    What is weak beside the best of them is not told with it, nor in its place where the session
    has the best ones already. With them comes what is due.
    """
    question = turn.hook.prompt[-_MOST_QUESTION:]
    if not question or is_small_talk(question):
        return ""

    async def find(known: tuple[str, ...]) -> list[Memory]:
        query = SearchQuery(
            question, turn.asked, _MOST_MEMORIES,
            min_confidence=turn.searcher.settings.hook_confidence, skip_small_talk=True,
            meaning_seconds=_MEANING_SECONDS,
        )  # fmt: skip
        try:
            hits = _strong((await hybrid_search(turn.searcher, query)).hits)
        except AgentUnknown:
            # It has no memory yet, and may have intents.
            return []
        return await _unsaid(turn, [hit for hit in hits if hit.memory.id not in known], known)

    return await _once(turn, MEMORIES, find, await _intents(turn, question))


def _strong(hits: Sequence[Hit]) -> list[Hit]:
    """Return those hits that are not weak beside the best one."""
    least = _LEAST_SHARE * max((hit.fused.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.fused.score >= least]


async def _unsaid(turn: Turn, hits: Sequence[Hit], known: Sequence[str]) -> list[Memory]:
    """Return the memories of hits that say something new beside the known ones."""
    if not hits or not known:
        return [hit.memory for hit in hits]
    every = Filters((turn.place.agent,))
    told = Repetitions((await turn.searcher.engine.fetch(known[:MOST_TOLD], every)).values())
    ranked = [Ranked(hit.memory, hit.fused) for hit in hits]
    left = await read_texts(told.told_characters // 10, told.removed_from, ranked)
    return [one.memory for one in left]


async def _intents(turn: Turn, text: str) -> list[Intent]:
    """Return what is to be said as the prompt comes up; told to no sub-agent."""
    if turn.hook.sub_agent is not None:
        return []
    searcher, place = turn.searcher, turn.place
    now = datetime.now(UTC)
    return await find_intents(searcher.db, searcher.engine, place.agent, place.scope, text, now)


async def _after_tool(turn: Turn) -> str:
    """Return the fix of an error that a command told, or what is known of a file."""
    tool = turn.hook.tool
    if tool is None:
        return ""
    if tool.command is not None:
        return "" if tool.failed is False else await _fix(turn)
    return await _history(turn) if tool.file_path and not tool.failed else ""


async def _fix(turn: Turn) -> str:
    tool, place, searcher = turn.hook.tool, turn.place, turn.searcher
    if tool is None or not tool.output.strip():
        return ""
    fix = await find_fix(searcher.db, place.agent, place.scope, tool.output, tool.command)
    # Codex does not say whether a command failed: then the very command must be known to have.
    if fix is None or (not tool.failed and fix.command != command_of(tool.command or "").text):
        return ""
    lines = fix_lines(fix.text, fix.command, fix.proven_at)
    text, fitting = block(FIX, place.agent, lines, turn.budget)
    # What passed says nothing without anything that was done before.
    if not any(line.startswith("- ") for line in lines[1:fitting]):
        return ""
    session = _session(turn)
    if session is None:
        return text
    async with turn.given.turn(session):
        if fix.id in await turn.given.known(session, in_part=True):
            return ""
        filters = Filters((place.agent,), project=place.scope or "")
        found = await searcher.engine.fetch([fix.id], filters)
        cut = [] if plain(fix.text) in plain(text) else [fix.id]
        told = [(one, "fix") for one in found.values()]
        await turn.given.note(session, "hook", told, cut, in_turn=True)
    return text


async def _history(turn: Turn) -> str:
    path = PurePosixPath((turn.hook.tool.file_path if turn.hook.tool else "") or "")
    if len(path.name) < _LEAST_NAME:
        return ""

    async def find(known: tuple[str, ...]) -> list[Memory]:
        engine, filters = turn.searcher.engine, replace(turn.asked, without=known)
        # Its folders beside its name: of many namesakes the twenty best are to be looked at.
        hits = await engine.by_text("/".join(path.parts[-3:]), filters, 20)
        found = await engine.fetch([hit.id for hit in hits], filters)
        named = [one for one in found.values() if names_file(one.content, path)]
        return named[:_MOST_MEMORIES]

    return await _once(turn, HISTORY, find, ())


async def _once(
    turn: Turn,
    frame: str,
    find: Callable[[tuple[str, ...]], Awaitable[list[Memory]]],
    intents: Sequence[Intent],
) -> str:
    """Return a block of what is said and of memories that the session has not yet; noted as given.

    Until it is noted no other answer looks at what this session has.
    """
    session = _session(turn)
    if session is None:
        return (await _said(turn, frame, await find(()), intents))[0]
    async with turn.given.turn(session):
        # Of what a hook told in part it tells no more another time.
        found = await find(await turn.given.known(session, in_part=True))
        text, told = await _said(turn, frame, found, intents)
        cut = [one.id for one in told if plain(one.content) not in plain(text)]
        why = turn.hook.event
        noted = [(one, why) for one in told]
        await turn.given.note(session, "hook", noted, cut, in_turn=True)
    return text


async def _said(
    turn: Turn, frame: str, found: list[Memory], intents: Sequence[Intent]
) -> tuple[str, list[Memory]]:
    """Return a block, and its memories; intents count as said if they stand in it, and only then.

    Those that do not fit, or that another answer said meanwhile, are left out of it.
    """
    agent, lines = turn.place.agent, list(map(line_of, found))
    fitting = block(frame, agent, map(line_of_intent, intents), turn.budget)[1]
    keys = [one.id for one in intents[:fitting]]
    fired = await fire(turn.searcher.db, agent, keys, datetime.now(UTC))
    said = [line_of_intent(one) for one in intents if one.id in fired]
    text, fitting = block(frame, agent, [*said, *lines], turn.budget)
    return text, found[: max(0, fitting - len(said))]


def _session(turn: Turn) -> Session | None:
    name = turn.hook.ledger
    return Session(turn.place.agent, name) if name else None


_DEEDS: Final[Mapping[str, Callable[[Turn], Awaitable[str]]]] = {
    "SessionStart": _context,
    "SubagentStart": _sub_agents_context,
    "UserPromptSubmit": _memories,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _after_tool,
}

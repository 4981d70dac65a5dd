"""Odd questions and odd titles over HTTP, on both engines and with the real model.

Each is answered, and with the note it is about first. What is refused (no text at all, a NUL, more
than a question may be long) is in test_problems.py.
"""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from tests.effort import amount
from tests.servers.running import running_service

pytestmark = pytest.mark.soak

ENGINES = ("resident", "database")[: amount("odd engines")]

Json = dict[str, Any]

# The longest question that is asked here, in characters.
_LONG: Final = 10_000
_SAME_TITLE: Final = "Weekly review"
_MANY: Final = 500
_START: Final = datetime(2024, 9, 2, tzinfo=UTC)

LIGHTHOUSE: Final = (
    "The keeper of the lighthouse trims the lamp at dusk and writes the wind into a ledger. "
    "In winter the ferry brings oil only once a month, so he counts the barrels every Sunday. "
    "When fog comes in he sounds the horn for one minute in three until he sees the far pier."
)
# Titles and texts by a name.
NOTES: Final[dict[str, tuple[str | None, str]]] = {
    "lighthouse": (None, LIGHTHOUSE),
    "harbour": ("Harbour dues", "Boats above nine metres pay for the quay by the week."),
    "the": ("The", "Lentils soak overnight before they are cooked."),
    "it is": ("It is", "Spare keys hang behind the pantry door."),
    "thirteenth": ("2026-02-13", "Repotted the fern and cleaned the gutter."),
    "fourteenth": ("2026-02-14", "Sharpened the kitchen knives and oiled the board."),
    "korean": (None, "창고 열쇠는 파란 상자에 있다."),
    "japanese": ("東京の宿", "朝食は七時から、温泉は夜十時まで。"),
    "russian": (None, "Запасной аккумулятор лежит в синем ящике."),
    "scripts": (None, "Passport 여권 паспорт lie together in the drawer."),
    "hebrew": ("ספר מתכונים", "מרק עדשים עם לימון וכמון."),
    "arabic": (None, "مفتاح المخزن في الصندوق الأزرق."),
    "emoji": (None, "Rabbit fed 🐰🥕 at noon."),
    "letter": (None, "Vitamin K is in the green jar."),
}
# Questions, each with the note that comes first.
BEST: Final = [
    ("k", "letter"),
    (LIGHTHOUSE, "lighthouse"),
    (f"{LIGHTHOUSE}\n\nHarbour dues\n", "lighthouse"),
    ("Harbour dues", "harbour"),
    ("harbour dues?", "harbour"),
    ("2026-02-13", "thirteenth"),
    ("2026-02-14", "fourteenth"),
    ("What did I do on 2026-02-14?", "fourteenth"),
    ("東京の宿", "japanese"),
    ("ספר מתכונים", "hebrew"),
    ("\u202eספר מתכונים\u202c", "hebrew"),
    ("مفتاح المخزن", "arabic"),
    ("passport 여권 паспорт", "scripts"),
    ("Harbour\tdues\u200b\ufeff", "harbour"),
    # Titles of stop words: what else the question tells decides.
    ("The harbour: it is above nine metres, the dues?", "harbour"),
    ("It is in the spare keys", "it is"),
    ("The lentils", "the"),
]  # fmt: skip
# Questions that tell nothing by which one note is better: any order, but an answer.
ANSWERED: Final = [
    "a", "q", "?", "...", "the of and is it to", "The", "It is", "who is it and what is that",
    "🐰", "🦄🦄🦄", "\U0001f469\u200d\U0001f467", "\u202e", "\u200b", "\x01\x02\x1b[31m", "a\x7fb",
    '"', '""', '"the"', '" "',
    "은 는 이 가", "の は が", "x" * _LONG, "a " * (_LONG // 2), "🐰" * _LONG, "東" * _LONG,
    (LIGHTHOUSE + " ") * (_LONG // len(LIGHTHOUSE)),
    " ".join(f"word{number}" for number in range(_LONG // 9)), '"' * _LONG, "-" * _LONG,
]  # fmt: skip


@pytest.fixture(scope="module")
def odd(
    tmp_path_factory: pytest.TempPathFactory, minilm_url: str, engine: str
) -> Iterator[httpx.Client]:
    """Yield the client of a service with the odd notes and, of another agent, many of one title."""
    with running_service(
        data_dir=tmp_path_factory.mktemp("odd"), embedding_url=minilm_url, search_engine=engine
    ) as service:
        _store(service.client, "main", [_note(*note) for note in NOTES.values()])
        many = [
            _note(_SAME_TITLE, _looked_at(number))
            | {"occurred_at": (_START + timedelta(days=number)).isoformat()}
            for number in range(_MANY)
        ]
        for start in range(0, _MANY, 100):
            _store(service.client, "many", many[start : start + 100])
        yield service.client


def _store(client: httpx.Client, agent: str, notes: list[Json]) -> None:
    memories = [{"agent": agent} | note for note in notes]
    answer = client.post("/memories/batch", json={"memories": memories})
    assert answer.json()["created"] == len(notes), answer.text


def _note(title: str | None, text: str) -> Json:
    return {"title": title, "text": text}


def _looked_at(number: int) -> str:
    return f"Looked at {_word(number)} again."


def _word(number: int) -> str:
    """Return a word that no other number has."""
    syllables = ("ba", "ke", "di", "lo", "mu", "ra", "se", "vi", "to", "zu")
    return "".join(syllables[int(digit)] for digit in f"{number:03}") + "n"


def _ask(client: httpx.Client, query: str, **wish: object) -> list[Json]:
    """Return the hits of a question, after a look at their shares."""
    answer = client.post("/search", json={"query": query, **wish})
    assert answer.status_code == 200, answer.text
    hits: list[Json] = answer.json()["results"]
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    for hit in hits:
        shares = [said["share"] for said in hit["signals"].values()]
        assert math.fsum(shares) == pytest.approx(hit["score"], rel=1e-5, abs=1e-9)
    return hits


@pytest.mark.parametrize(("query", "name"), BEST, ids=[query[:30] for query, _ in BEST])
def test_an_odd_question_finds_its_note(odd: httpx.Client, query: str, name: str) -> None:
    assert _ask(odd, query)[0]["content"] == NOTES[name][1]


@pytest.mark.parametrize("query", ANSWERED, ids=[ascii(query)[:30] for query in ANSWERED])
def test_what_tells_nothing_is_answered(odd: httpx.Client, query: str) -> None:
    _ask(odd, query)
    answer = odd.post("/search", json={"query": query, "fusion": "rrf"})
    assert answer.status_code == 200, answer.text


def test_a_title_of_five_hundred_hides_none_of_them(odd: httpx.Client) -> None:
    for number in (0, 1, 99, 100, 101, 250, _MANY - 2, _MANY - 1):
        for query in (
            f"{_SAME_TITLE} {_word(number)}",
            f"In which {_SAME_TITLE} did we look at {_word(number)}?",
        ):
            hits = _ask(odd, query, agent="many")
            assert hits[0]["content"] == _looked_at(number), query
            assert len({hit["id"] for hit in hits}) == len(hits)


def test_of_five_hundred_with_the_title_asked_for_the_newest_come_first(odd: httpx.Client) -> None:
    hits = _ask(odd, _SAME_TITLE, agent="many", weights={"vector": 0}, limit=20)
    newest = range(_MANY - 1, _MANY - 21, -1)
    assert [hit["content"] for hit in hits] == [_looked_at(number) for number in newest]

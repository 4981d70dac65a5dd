"""What clients send, well and badly: hypothesis strategies for whole HTTP requests."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.embedding_server import oddities

EMBEDDINGS = (b"/v1/embeddings", b"/embeddings")
# Sums under which no limit of a model or of the server is reached.
SAFE_CHARACTERS, SAFE_TEXT_CHARACTERS = 100_000, 8_000
# MiniLM takes 256 tokens, and a Korean syllable may become three.
SAFE_SHORT_CHARACTERS = 80
Json = dict[str, Any]
Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class Sent:
    """One request as a client puts it on the wire.

    `texts` is how many vectors it must be answered with, None if a refusal is right as well.
    `is_http` is False where the server may close the connection instead of answering. A client
    that `leaves_after` so many bytes never reads.
    """

    body: bytes = b""
    texts: int | None = None
    method: bytes = b"POST"
    target: bytes = EMBEDDINGS[0]
    headers: Headers = ((b"content-type", b"application/json"),)
    chunk_bytes: int | None = None
    is_http: bool = True
    leaves_after: int | None = None

    @property
    def raw(self) -> bytes:
        """The bytes on the wire."""
        names = {name.lower() for name, _ in self.headers}
        lines = [b"%s %s HTTP/1.1" % (self.method, self.target), b"Host: localhost"]
        lines += [b"%s: %s" % header for header in self.headers]
        if self.chunk_bytes:
            lines.append(b"Transfer-Encoding: chunked")
        elif b"content-length" not in names:
            lines.append(b"Content-Length: %d" % len(self.body))
        body = self.body if self.chunk_bytes is None else _cut(self.body, self.chunk_bytes)
        return b"\r\n".join([*lines, b"", body])


def _cut(body: bytes, size: int) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def damage(sent: Sent, chooser: Random) -> Sent:
    """Return the request with a slice of its body gone, doubled or overwritten.

    A valid request stays as it is.
    """
    if sent.texts is not None or not sent.is_http or not sent.body:
        return sent
    start = chooser.randrange(len(sent.body))
    end = min(len(sent.body), start + chooser.choice((1, 1, 2, 9, 200)))
    middle = sent.body[start:end]
    middle = chooser.choice((b"", middle * 2, chooser.randbytes(end - start), middle[::-1]))
    return replace(sent, body=sent.body[:start] + middle + sent.body[end:])


def draw(strategy: st.SearchStrategy[Sent], count: int, number: int) -> list[Sent]:
    """Return so many different requests; the same number gives the same ones."""
    drawn: list[Sent] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(sent: Sent) -> None:
        drawn.append(sent)

    collect()
    return drawn


TEXTS = st.one_of(
    st.text(min_size=1, max_size=40),
    st.sampled_from(oddities.SPECIAL_TEXTS),
    st.builds(
        lambda unit, times: unit * times,
        st.sampled_from(["word ", "긴 문장 ", "a", "👍", "x-", " \t", "é"]),
        st.integers(1, 1500),
    ),
)
NUMBERS = st.one_of(
    st.integers(-2, 3),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**400, 1e308, -0.0, 1e-400, 0.5]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), NUMBERS, st.text(max_size=10), st.just("\ud800"), st.just("")
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ("input", "model", "encoding_format", "dimensions", "user", "input_type", "truncate")
)


@st.composite
def valid_bodies(draw: st.DrawFn, model: str) -> tuple[Json, int]:
    """Return a body that fits the contract, and how many vectors it asks for."""
    texts = draw(st.one_of(TEXTS, st.lists(TEXTS, min_size=1, max_size=6)))
    if isinstance(texts, list) and sum(map(len, texts)) < 300:
        texts *= draw(st.sampled_from([1] * 12 + [7, 42, 300]))
    body: Json = {"model": model, "input": texts}
    options = st.fixed_dictionaries(
        {},
        optional={
            "encoding_format": st.sampled_from(["float", "base64", None]),
            "user": st.one_of(st.none(), st.just("someone")),
            "input_type": st.sampled_from(["query", "passage", "document", None]),
            "truncate": st.booleans(),
            "extra": ANYTHING.filter(_is_unicode),
        },
    )
    return body | draw(options), 1 if isinstance(texts, str) else len(texts)


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _is_answered(body: Json, model: str) -> bool:
    """Tell whether a valid body stays below every limit, so that a refusal would be wrong."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    most = SAFE_TEXT_CHARACTERS if model.startswith("hashing") else SAFE_SHORT_CHARACTERS
    is_short = bool(body.get("truncate")) or max(map(len, texts)) <= most
    return is_short and sum(map(len, texts)) <= SAFE_CHARACTERS


@st.composite
def valid_requests(draw: st.DrawFn, model: str) -> Sent:
    """Return a request that must be answered with vectors, by header, encoding and chunks."""
    body, count = draw(valid_bodies(model))
    text = json.dumps(body, ensure_ascii=draw(st.booleans()))
    kinds = [b"application/json", b"application/json; charset=utf-8", b"Application/JSON"]
    headers: Headers = ((b"content-type", draw(st.sampled_from(kinds))),)
    return Sent(
        body=draw(st.sampled_from([b"", b"", b" \r\n"])) + text.encode(),
        texts=count if _is_answered(body, model) else None,
        target=draw(st.sampled_from(EMBEDDINGS)),
        headers=headers + draw(HEADERS),
        chunk_bytes=draw(st.sampled_from([None, None, None, 1000, 7]))
        if len(text) < 5000
        else None,
    )


# One that stands twice is refused (web/test_door.py).
HEADERS = st.one_of(
    st.just(()),
    st.lists(
        st.sampled_from(oddities.HEADERS), max_size=3, unique_by=lambda told: told[0].lower()
    ).map(tuple),
)


@st.composite
def bad_bodies(draw: st.DrawFn, model: str) -> bytes:
    """Return a body that is nearly valid, broken JSON, or no JSON at all."""
    body, _ = draw(valid_bodies(model).filter(lambda drawn: drawn[1] < 10))
    whole = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    place = draw(st.integers(0, len(whole)))
    wrong = {**body, draw(FIELDS): draw(st.one_of(ANYTHING, st.lists(ANYTHING, max_size=3)))}
    is_ascii = draw(st.booleans())
    ways: list[Callable[[], bytes]] = [
        lambda: json.dumps(wrong, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass"),
        lambda: whole[:place],
        lambda: whole[:place] + draw(st.binary(min_size=1, max_size=3)) + whole[place:],
        lambda: whole[:place] + draw(st.binary(min_size=1, max_size=3)) + whole[place + 1 :],
        lambda: whole.replace(b'"input"', b'"input":[],"input"', 1),
        lambda: json.dumps({k: v for k, v in body.items() if k != draw(FIELDS)}).encode(),
        lambda: json.dumps(draw(ANYTHING)).encode(),
        lambda: draw(st.sampled_from(oddities.BODIES)),
        lambda: whole.replace(b"}", b',"input":' + b"[" * place + b"]" * place + b"}", 1),
    ]
    return draw(st.sampled_from([0, 0, 0, *range(len(ways))]).map(ways.__getitem__))()


@st.composite
def bad_requests(draw: st.DrawFn, model: str) -> Sent:
    """Return a request to the right place with a body, a type or an encoding that is wrong."""
    sent = Sent(draw(bad_bodies(model)), target=draw(st.sampled_from(EMBEDDINGS)))
    extra = draw(HEADERS)
    match draw(st.integers(0, 9)):
        case 0:
            sent = replace(
                sent, headers=((b"content-type", draw(st.sampled_from(oddities.CONTENT_TYPES))),)
            )
        case 1:
            sent = replace(sent, headers=())
        case 2:
            extra += ((b"content-encoding", b"gzip"),)
            sent = replace(sent, body=draw(st.sampled_from([gzip.compress(sent.body), sent.body])))
        case 3:
            sent = replace(sent, chunk_bytes=draw(st.integers(500, 5000)))
        case _:
            pass
    return replace(sent, headers=sent.headers + extra)


TARGETS = st.one_of(
    st.sampled_from(oddities.TARGETS),
    st.text("abz019%./?=&~", max_size=30).map(lambda text: b"/" + text.encode()),
)


@st.composite
def strange_requests(draw: st.DrawFn, model: str) -> Sent:
    """Return a request with any method, path and headers."""
    body = draw(st.one_of(st.just(b""), bad_bodies(model)))
    return Sent(
        body, None, draw(st.sampled_from(oddities.METHODS)), draw(TARGETS), headers=draw(HEADERS)
    )


@st.composite
def broken_requests(draw: st.DrawFn, model: str) -> Sent:
    """Return what is no HTTP/1.1 any more."""
    sent = draw(valid_requests(model).filter(lambda valid: len(valid.body) < 5000))
    sent = replace(
        sent,
        texts=None,
        is_http=False,
        headers=(*sent.headers, draw(st.sampled_from(oddities.BREAKING_HEADERS))),
    )
    match draw(st.integers(0, 5)):
        case 0:
            return replace(sent, method=draw(st.binary(max_size=9)))
        case 1:
            return replace(sent, target=draw(st.binary(max_size=9)))
        case _:
            return sent


@st.composite
def leaving_clients(draw: st.DrawFn, model: str) -> Sent:
    """Return a request whose client hangs up somewhere in it, or right after it."""
    sent = draw(st.one_of(valid_requests(model), bad_requests(model)))
    length = len(sent.raw)
    place = draw(st.one_of(st.just(length), st.integers(0, length)))
    return replace(sent, texts=None, leaves_after=place)


def requests(model: str) -> st.SearchStrategy[Sent]:
    """Return the whole mixture: a third of it valid."""
    kinds = [valid_requests, bad_requests, valid_requests, strange_requests, bad_requests]
    rare = [broken_requests, leaving_clients]
    return st.one_of(*(kind(model) for kind in kinds + rare))

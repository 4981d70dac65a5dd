"""Texts, bodies, headers and paths that servers stumble over, one list of each."""

# fmt: off
from typing import Final

# Deeper than any parser's stack.
NEST: Final = 10_000
SPECIAL_TEXTS: Final = [
    " ", "\n", "\0", "\0a\0", "\ufeff", "\u202eright to left\u202c", "مرحبا بالعالم", "שלום",
    "한국어 문장은 어절로 나뉜다.", "日本語の文", "👩\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈",
    "Z" + "\u0351\u036b" * 200,
    "ﷺ", "İıſß", "\x1b[31m", "\\u0000", "[CLS] [SEP] [MASK] [PAD] [UNK]", "<|endoftext|>", "</s>",
    "{}", "NaN", "import os", "%s%n{0}", "'; DROP TABLE memory; --", "../../etc/passwd",
    "\U0010ffff", "\ufffe\uffff", "\u0301",
]
BODIES: Final = [
    b"", b" ", b"null", b"true", b"[]", b"{}", b'""', b"NaN", b"-", b"\xef\xbb\xbf{}", b"\xff\xfe",
    b"[" * NEST, b"[" * NEST + b"]" * NEST, b'{"a":' * NEST + b"1" + b"}" * NEST,
    b'{"input":' + b"[" * NEST + b"]" * NEST + b"}",
    b'{"input":' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"model":' + b'{"a":' * 900 + b"1" + b"}" * 901,
    b"1" * 5000, b"0" * 200_000, b'{"input":' + b"9" * 5000 + b"}",
    b'{"dimensions":' + b"9" * 5000 + b',"input":"a","model":"m"}',
    b'{"input":"a" "model":"m"}', b'{"input":"a","input":"b","input":7}',
    b'{"input":"\\ud800\\udc00\\ud800"}', b'"' + b"\\" * 9999, b"input=a&model=b",
    b'{"input":"\x00"}', b"{'input':'a'}", b'{"input":"a",}', b"/**/{}",
    b"<?xml version='1.0'?><a/>", b"\x80\x04N.",
    b'--x\r\nContent-Disposition: form-data; name="input"\r\n\r\na',
    '{"input":"a"}'.encode("utf-16"), '{"input":"a"}'.encode("utf-32"),
]
CONTENT_TYPES: Final = [
    b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data", b"", b"/", b"json",
    b"application/json; charset=utf-16", b"application/json; charset=nothing", b"\xff/\xff",
    b"application/vnd.api+json", b"application/json" * 200,
]
HEADERS: Final = [
    (b"authorization", b"Bearer wrong"), (b"Authorization", b"Bearer " + b"k" * 5000),
    (b"authorization", b"Basic \xff\xfe"), (b"authorization", b""), (b"authorization", b"Bearer"),
    (b"X-Request-ID", b"\xe9\xff"), (b"x-request-id", b"i" * 9000), (b"x-request-id", b""),
    (b"x-request-id", b"one two"), (b"X-Request-ID", b"%0d%0aset-cookie: a=b"),
    (b"Expect", b"100-continue"), (b"Accept-Encoding", b"gzip, br"), (b"Accept", b"text/html"),
    (b"Connection", b"close"), (b"Origin", b"http://localhost"), (b"Cookie", b"a=b; a=c; ;="),
    (b"Content-Encoding", b"identity"), (b"Upgrade-Insecure-Requests", b"1"),
    (b"Sec-Fetch-Site", b"none"), (b"Range", b"bytes=0-1"), (b"If-None-Match", b"*"),
]
# With one of these a request is no HTTP/1.1 any more, or no longer as long as it says.
BREAKING_HEADERS: Final = [
    (b"content-length", b"-1"), (b"content-length", b"a"), (b"content-length", b"1e3"),
    (b"content-length", b"9" * 30), (b"content-length", b"+5"), (b"content-length", b"3, 4"),
    (b"content-length", b"5"), (b"content-length", b""), (b"transfer-encoding", b"gzip"),
    (b"transfer-encoding", b"chunked"), (b"bad name", b"x"), (b"", b"x"), (b"\xff", b"x"),
    (b"x", b"a\0b"), (b"x", b"a\r\nb"), (b"x", b"y" * 70_000), (b"host", b"twice"),
    (b"upgrade", b"websocket"), (b"connection", b"upgrade, close"),
]
METHODS: Final = [
    b"GET", b"HEAD", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"PURGE", b"post", b"POST",
]
TARGETS: Final = [
    b"/v1/embeddings", b"/embeddings", b"/", b"*", b"/v1", b"/v1/", b"/v1/embeddings/",
    b"//v1/embeddings", b"/V1/EMBEDDINGS", b"/v1/../v1/models", b"/v1/models", b"/models",
    b"/v1/models/", b"/v1/models/a/b/c", b"/health", b"/metrics", b"/openapi.json", b"/docs",
    b"/v1/models/%00", b"/v1/models/%ff%fe", b"/%2e%2e/%2f", b"/v1/models/%E2%80%AE",
    b"/v1/embeddings?input=a&model=b", b"/health?%ff", b"/v1/models/" + b"m" * 9000,
    b"/v1/engines/x/embeddings", b"/v1/files", b"/v1/batches", b"http://elsewhere/v1/embeddings",
    b"/v1/models/%0d%0aset-cookie:a", b"/favicon.ico", b"/v1/embeddings#a", b"/%",
    b"/v1;a=b/models",
]

"""The proxy that the environment names for another server, and the hosts it names none for."""

import pytest

from service.inference.asking import _proxy_for

NAMES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
PROXY = "http://proxy.example:3128"


@pytest.fixture(autouse=True)
def _no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({}, "http://gpu.example:8001", None),
        ({"HTTP_PROXY": PROXY}, "http://gpu.example:8001/v1/embeddings", PROXY),
        ({"http_proxy": PROXY}, "http://gpu.example:8001", PROXY),
        ({"HTTP_PROXY": PROXY}, "https://gpu.example", None),
        ({"HTTPS_PROXY": PROXY}, "https://gpu.example", PROXY),
        ({"HTTP_PROXY": PROXY, "NO_PROXY": "gpu.example"}, "http://gpu.example:8001", None),
        ({"HTTP_PROXY": PROXY, "NO_PROXY": ".example,127.0.0.1"}, "http://a.example", None),
        ({"HTTP_PROXY": PROXY}, "http://127.0.0.1:8001", None),
        ({"HTTP_PROXY": PROXY}, "http://localhost:8001", None),
        ({"HTTP_PROXY": PROXY}, "http://user:word@[::1]:8001", None),
        ({"HTTPS_PROXY": PROXY}, "https://127.0.0.1:8001", None),
        ({"HTTP_PROXY": PROXY, "NO_PROXY": "other.example"}, "http://gpu.example", PROXY),
        ({"HTTP_PROXY": PROXY, "NO_PROXY": "*"}, "http://gpu.example", None),
    ],
)  # fmt: skip
def test_the_environment_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, expected: str | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert _proxy_for(url) == expected

"""What ./scripts/run makes of .env and of the environment: what the servers make of them."""

from pathlib import Path

import httpx
import pytest

from embedding_server.settings import Settings as EmbeddingSettings
from scripts import run_both
from service.settings import Settings

ENV = """\ufeffMEMORY_PORT=18080 # where it listens
export MEMORY_AGENT=zoe
memory_embedding_model="a model"
EMBEDDING_HOST=0.0.0.0
EMBEDDING_PORT=18001
EMBEDDING_API_KEY='a # key'
MEMORY_HOST=
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / ".env").write_text(ENV, encoding="utf-8")
    monkeypatch.setattr(run_both, "REPOSITORY", tmp_path)
    return run_both.settings()


def test_it_reads_what_the_servers_read(environment: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / ".env"
    service, embedding = Settings(_env_file=file), EmbeddingSettings(_env_file=file)
    assert environment["MEMORY_PORT"] == str(service.port) == "18080"
    assert environment["MEMORY_AGENT"] == service.agent == "zoe"
    assert environment["MEMORY_EMBEDDING_MODEL"] == service.embedding_model == "a model"
    assert environment["MEMORY_HOST"] == service.host
    key = embedding.api_key
    assert key is not None
    assert environment["EMBEDDING_API_KEY"] == key.get_secret_value() == "a # key"


def test_a_variable_without_a_value_is_unset(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MEMORY_PORT", "MEMORY_HOST", "EMBEDDING_PORT", "MEMORY_EMBEDDING_URL"):
        monkeypatch.setenv(name, "")
    # To others an empty one says something: no GPU.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    now = run_both.settings()
    assert now["CUDA_VISIBLE_DEVICES"] == ""
    assert _ours(now) == _ours(environment)


def _ours(environment: dict[str, str]) -> dict[str, str]:
    return {n: v for n, v in environment.items() if n.startswith(run_both.OURS)}


def test_an_embedding_server_for_all_is_asked_here_and_with_its_key(
    environment: dict[str, str],
) -> None:
    assert environment["MEMORY_EMBEDDING_URL"] == "http://127.0.0.1:18001"
    assert environment["MEMORY_EMBEDDING_API_KEY"] == "a # key"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"), ("0.0.0.0", "http://127.0.0.1:80"),  # noqa: S104 - compared
        ("::", "http://127.0.0.1:80"), ("::1", "http://[::1]:80"), ("box", "http://box:80"),
    ],
)  # fmt: skip
def test_a_server_is_asked_where_it_is_reached(host: str, url: str) -> None:
    assert run_both.place(host, "80") == url


def test_a_document_is_an_example_note_only_line_by_line() -> None:
    note = "# Boats\n\nThe red boat.\nThe blue one.\n"
    assert run_both.says(note, note)
    # A deleted section's lines are empty.
    assert run_both.says("# Boats\n\n\nThe blue one.\n", note)
    assert not run_both.says("# Boats\n", note)
    assert not run_both.says(f"{note}Mine too.\n", note)
    assert not run_both.says("", note)


@pytest.mark.parametrize("path", ["/documents", "/ingest"])
def test_a_start_goes_on_where_example_notes_cannot_go_now(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == path:
            raise httpx.ReadTimeout("busy")
        note = run_both.EXAMPLES / request.url.params["path"]
        return httpx.Response(200, json={"text": note.read_text("utf-8")})

    service = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://service")
    with service:
        run_both.drop_examples(service, {"MEMORY_SOURCES": str(tmp_path)})
    assert "may be left" in capsys.readouterr().out

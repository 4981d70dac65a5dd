"""A service in every state that a client may find it in, for what measures how long one waits."""

from contextlib import ExitStack
from pathlib import Path

from scripts.servers.silence import silent_server
from tests.servers.running import running_service


def services_by_state(opened: ExitStack, folder: Path, embedder: str) -> dict[str, str]:
    """Return the addresses of real services and of silent ones, by what is wrong with them."""
    well = running_service(data_dir=folder / "well", embedding_url=embedder)
    hung = opened.enter_context(silent_server())
    blind = running_service(wait=False, data_dir=folder / "blind", embedding_url=hung)
    return {
        "well": opened.enter_context(well).url,
        "its embedder hangs": opened.enter_context(blind).url,
        "answers after 2 s": opened.enter_context(silent_server(seconds=2)),
        "never answers": hung,
        "away": "http://127.0.0.1:9",
    }

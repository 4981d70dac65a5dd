"""Which encoder the settings lead to, in a process of its own: what it imports is the point."""

import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys
logging.basicConfig(format="%(message)s")
{before}
from embedding_server.encoders.opening import open_encoder
from embedding_server.settings import Settings
encoder = open_encoder(Settings({settings}))
print(type(encoder).__name__, "torch" in sys.modules)
"""


def run(settings: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(settings=settings, before=before)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
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


def test_what_was_asked_for_is_not_replaced() -> None:
    done = run("backend='onnx'", before="sys.modules['onnxruntime'] = None")
    assert "CannotStart" in done.stderr
    assert (
        run("backend='onnx', device='cuda'")
        .stderr.strip()
        .endswith("EMBEDDING_BACKEND=onnx runs on a CPU, and EMBEDDING_DEVICE is cuda")
    )

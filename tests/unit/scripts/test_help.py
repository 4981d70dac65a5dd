"""The scripts that a person starts: each says how, without a data set and without a library."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
# Started by ./scripts/run, and takes settings from the environment only.
WITHOUT_ARGUMENTS = {"run_both.py"}
STARTED = sorted(path for path in SCRIPTS.glob("*.py") if path.name not in WITHOUT_ARGUMENTS)
BY_ITSELF = sorted(
    path
    for path in SCRIPTS.glob("*/*.py")
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


def test_there_are_scripts() -> None:
    assert len(STARTED) > 8
    assert BY_ITSELF


@pytest.mark.parametrize("path", [*STARTED, *BY_ITSELF], ids=lambda path: path.name)
def test_every_script_says_how_it_is_started(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    # Which one of them sets, for libraries that it loads later.
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert not ended.value.code
    assert capsys.readouterr().out.startswith(f"usage: {path.name}")


@pytest.mark.parametrize("path", [*STARTED, *BY_ITSELF], ids=lambda path: path.name)
def test_every_script_is_called_by_its_own_path(path: Path) -> None:
    usage = f"    {path.relative_to(SCRIPTS.parent)}"
    assert usage in path.read_text(encoding="utf-8")

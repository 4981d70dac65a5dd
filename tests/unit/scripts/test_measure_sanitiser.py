"""What the measuring of the sanitiser says of a folder that is none."""

import sys
from pathlib import Path

import pytest

from scripts.measure_sanitiser import main


def test_a_folder_without_notes_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path, tmp_path / "misspelt"):
        monkeypatch.setattr(sys, "argv", ["measure_sanitiser.py", "--notes", str(folder)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert "no markdown file is there" in capsys.readouterr().err

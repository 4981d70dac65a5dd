"""The backup that docs/operate.md tells of, as its reader types it."""

import re
import subprocess
import time
from pathlib import Path
from typing import Final

from tests.conftest import REPOSITORY

_BLOCK: Final = re.compile(r"\*\*Back up an embedded store\.\*\*.*?```bash\n(.*?)```", re.DOTALL)


def test_each_backup_is_a_folder_of_its_own(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "operate.md").read_text(encoding="utf-8")
    told = _BLOCK.search(page)
    assert told
    store = tmp_path / ".local" / "share" / "graph-memory" / "store"
    store.mkdir(parents=True)
    for content in ("first", "second"):
        (store / "manifest").write_text(content)
        command = ["sh", "-ec", told[1]]
        subprocess.run(command, check=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
        time.sleep(1.1)  # the clock of its name
    copies = sorted((tmp_path / "backup").glob("*/store/manifest"))
    assert [copy.read_text() for copy in copies] == ["first", "second"]

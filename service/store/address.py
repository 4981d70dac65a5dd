"""Where a store is, and how much of an embedded one lies in its write-ahead log only."""

from contextlib import suppress
from dataclasses import dataclass
from fcntl import LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import Final

from service.errors import StoreNotWritable, StoreRefused
from service.store.disk import full, says_full

# What a killed store must read again when it is opened; many small keys take long.
_LONGEST_LOG_BYTES: Final = 128_000_000
_LOG_BYTES_WHEN_IDLE: Final = 32_000_000
# What holds memories; the engine (core 3.2.4) makes the manifest before any of it.
_DATA_PARTS: Final = ("sstables", "vlog", "wal")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where the store is and who we are there.

    `reserve_bytes`: with less room on its disk, an embedded store takes no more writes. `setting`
    is what says where it is, as a sentence names it.
    """

    url: str
    user: str | None = None
    password: str | None = None
    namespace: str = "graph_memory"
    name: str = "memory"
    timeout_seconds: float = 30.0
    reserve_bytes: int = 0
    setting: str = "MEMORY_DATABASE_URL"

    @property
    def folder(self) -> Path | None:
        """The folder of an embedded store; None for a server."""
        embedded = self.url.startswith("surrealkv://")
        return Path(self.url.removeprefix("surrealkv://")) if embedded else None

    def is_held(self) -> bool:
        """Return whether another process holds an embedded store: its engine locks a file there."""
        try:
            with ((self.folder or Path()) / "LOCK").open() as file:
                flock(file, LOCK_SH | LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def must_flush(self) -> bool:
        """Return whether an embedded store must be flushed before more is written.

        Its second log file says that what it holds in RAM was full once; the third would be its
        last (docs/decisions/0012).
        """
        sizes = self._log_sizes()
        return len(sizes) > 1 or sum(sizes) >= _LONGEST_LOG_BYTES

    def may_flush(self) -> bool:
        """Return whether a flush is worth it while nobody writes."""
        return sum(self._log_sizes()) >= _LOG_BYTES_WHEN_IDLE

    @property
    def log_bytes(self) -> int:
        """What lies in the write-ahead log of an embedded store; 0 after a clean end."""
        return sum(self._log_sizes())

    def tables(self) -> dict[str, int]:
        """Return the sizes of an embedded store's tables, by the names of their files."""
        return self._sizes("sstables")

    def make_folder(self) -> None:
        """Make the folder of an embedded store; raises StoreNotWritable."""
        folder = self.folder
        if folder is None:
            return
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as error:
            if says_full(str(error)):
                raise full(folder, error.strerror or "") from error
            msg = (
                f"The store's folder {folder} cannot be written ({error.strerror}): "
                f"give another {self.setting}."
            )
            raise StoreNotWritable(msg) from error

    def refuse_to_begin(self) -> None:
        """Raise StoreRefused where a new store would begin without a word, over another or in it.

        The engine does so for data without a manifest, as a copy that broke off leaves it, and
        overwrites what it finds.
        """
        folder = self.folder
        if folder is None or _has_manifest(folder):
            return
        if any(any(self._sizes(part).values()) for part in _DATA_PARTS):
            msg = (
                f"The store in {folder} is a part of one, as a copy that broke off leaves "
                f"it: its manifest is missing. Copy it anew, or give another {self.setting}."
            )
            raise StoreRefused(msg)
        if _has_manifest(folder.parent):
            msg = (
                f"{folder.parent} is a store itself, and none is begun in it. To open it, let "
                f"MEMORY_DATA_DIR name the folder it lies in; else give another {self.setting}."
            )
            raise StoreRefused(msg)

    def _log_sizes(self) -> list[int]:
        return [size for size in self._sizes("wal").values() if size]

    def _sizes(self, part: str) -> dict[str, int]:
        folder = self.folder
        if folder is None or not (folder / part).is_dir():
            return {}
        sizes = {}
        for file in (folder / part).iterdir():
            with suppress(FileNotFoundError):  # the engine removes some meanwhile
                sizes[file.name] = file.stat().st_size
        return sizes


def _has_manifest(folder: Path) -> bool:
    return any((folder / "manifest").glob("*.manifest"))

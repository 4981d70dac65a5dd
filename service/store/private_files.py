"""The data folder and all files in it are this user's alone: folders 0700, files 0600.

The embedded engine makes files by itself, so every command sets the umask before it opens anything;
what an older version left is mended at the start. Only what is ours is changed, by descriptors that
no link leads elsewhere. What is shared on purpose, and what is not ours, is told.
"""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service.plurals import how_many

log = logging.getLogger(__name__)

_OTHERS: Final = 0o077
# What this service makes in the data folder.
OWN_PARTS: Final = ("store", "snapshots", "readers")
# What the embedded engine makes in the store's folder (core 3.2.4), beside the file of its lock.
_ENGINE_FOLDERS: Final = ("manifest", "sstables", "vlog", "wal")
_ENGINE_PARTS: Final = (*_ENGINE_FOLDERS, "LOCK")
_IS_POSIX: Final = os.name == "posix"
_ROOT: Final = 0


def keep_new_files_private() -> None:
    """Let whatever this process makes from now on be for its user alone."""
    os.umask(_OTHERS)


def keep_folders_private(folder: Path) -> None:
    """Take the rights of others from the engine's folders in a private one: it sets some itself.

    Its log's is 0750 after each opening, whatever the umask (core 3.2.4). Files are left: one
    that is closed here might lose the lock that the engine has on it.
    """
    if not _IS_POSIX or folder.stat().st_mode & _OTHERS:
        return
    for part in (folder / name for name in _ENGINE_FOLDERS if (folder / name).is_dir()):
        for _, _, _, place in os.fwalk(part, follow_symlinks=False):
            _narrow(place)


@dataclass(slots=True)
class PrivateFiles:
    """How private the data is; `warnings` are what is open to others and not for us to change."""

    warnings: list[str] = field(default_factory=list)

    def keep(self, data_dir: Path, store: Path | None) -> None:
        """Make and mend the data folder, and the folder of an embedded store that lies elsewhere.

        Does nothing on Windows, whose folders of a user are private by inheritance. What cannot be
        looked at is told, not raised.
        """
        if not _IS_POSIX:
            return
        try:
            self._keep(data_dir.resolve(), store)
        except OSError as error:
            self.warnings.append(f"Who may read {data_dir} is not known ({error.strerror}).")
        for warning in self.warnings:
            log.warning("%s", warning)

    def _keep(self, data_dir: Path, store: Path | None) -> None:
        is_inside = store is not None and data_dir in store.absolute().parents
        if is_inside:
            # One that cannot be made is told where the store in it is opened.
            with suppress(OSError):
                data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Where nothing of ours is or will be, its rights are no matter of ours.
        if data_dir.is_dir() and (is_inside or os.access(data_dir, os.W_OK)):
            self._keep_folder(data_dir, [data_dir / name for name in OWN_PARTS])
        if store is not None and not is_inside and store.is_dir():
            store = store.resolve()
            self._keep_folder(store, [store / name for name in _ENGINE_PARTS])

    def _keep_folder(self, folder: Path, parts: list[Path]) -> None:
        """Mend a folder, and of one that holds other things too only its `parts`."""
        self.warnings += _open_parents(folder)
        if reason := _reason_to_leave(folder):
            if stat.S_IMODE(folder.stat().st_mode) & _OTHERS:
                self.warnings.append(f"{folder} can be reached by other users and {reason}.")
            return
        # A socket may be the one that is listened on.
        holds_more = any(one not in parts and not one.is_socket() for one in folder.iterdir())
        if holds_more and stat.S_IMODE(folder.stat().st_mode) & _OTHERS:
            self.warnings.append(
                f"{folder} can be reached by other users and holds other files too, so its rights "
                "are left: give the memories a folder of their own."
            )
        roots = [part for part in parts if part.is_dir()] if holds_more else [folder]
        self.warnings += _left_parts(parts)
        if mended := sum(_mended(root) for root in roots):
            log.warning(
                "%s in %s could be read by other users; now only by this one",
                how_many(mended, "file or folder", "files and folders"), folder,
            )  # fmt: skip


def _reason_to_leave(folder: Path) -> str | None:
    """Return why a folder's rights are not for us to change; None where they are."""
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return "belongs to another user: let the service run as that one, or chmod it to 0700"
    if found.st_mode & stat.S_ISGID or found.st_gid != os.getegid() or _has_acl(folder):
        return "is shared with a group, so its rights are left: chmod 0700 ends that"
    return None


def _left_parts(parts: list[Path]) -> Iterator[str]:
    """Tell which of ours nothing is mended in."""
    for part in parts:
        if part.is_symlink():
            yield f"{part} is a link: nothing behind it was looked at."
        elif part.is_dir() and part.stat().st_uid != os.geteuid():
            yield f"{part} belongs to another user, so its rights are left: chown it to this one."


def _has_acl(folder: Path) -> bool:
    try:
        return "system.posix_acl_access" in os.listxattr(folder)
    except (OSError, AttributeError):
        return False


def _open_parents(folder: Path) -> Iterator[str]:
    """Tell which folders above let others put another one in this one's place."""
    for parent in folder.parents:
        found = parent.stat()
        if found.st_uid not in {_ROOT, os.geteuid()}:
            yield f"{parent}, above {folder.name}, belongs to another user."
        # A sticky folder (/tmp) lets nobody move what is another's; a group of one's own is nobody.
        others = stat.S_IWOTH if found.st_gid == os.getegid() else stat.S_IWOTH | stat.S_IWGRP
        if found.st_mode & others and not found.st_mode & stat.S_ISVTX:
            yield f"{parent}, above {folder.name}, can be written by other users: chmod go-w it."


def _mended(root: Path) -> int:
    """Take all rights of others away from a folder and what is in it; return from how many.

    Links are not followed, and files with several names left: one may be another's.
    """
    count = 0
    for _, _, names, place in os.fwalk(root, follow_symlinks=False):
        count += _narrow(place)
        for name in names:
            found = os.stat(name, dir_fd=place, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode) and found.st_mode & _OTHERS:
                count += _narrow_file(name, place)
    return count


def _narrow_file(name: str, place: int) -> int:
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    except OSError:
        return 0  # gone meanwhile, or a link by now
    try:
        return _narrow(opened)
    finally:
        os.close(opened)


def _narrow(opened: int) -> int:
    """Take the rights of others away from what is open; return 1, or 0 where nothing was to do."""
    found = os.fstat(opened)
    is_one = stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)
    if not (is_one and found.st_uid == os.geteuid() and found.st_mode & _OTHERS):
        return 0
    os.fchmod(opened, stat.S_IMODE(found.st_mode) & ~_OTHERS)
    return 1

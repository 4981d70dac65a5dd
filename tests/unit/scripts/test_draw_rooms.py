"""The picture of the rooms is drawn from the code."""

import pytest

from scripts.draw_rooms import PICTURE
from scripts.house.picture import draw
from scripts.house.rooms import PURE, RANKS, Module, read_modules


def test_the_committed_picture_is_what_the_code_gives() -> None:
    stale = "stale: python scripts/draw_rooms.py"
    assert PICTURE.read_text(encoding="utf-8") == draw(read_modules()), stale


@pytest.mark.parametrize("room", RANKS)
def test_every_room_is_in_the_picture(room: str) -> None:
    assert f">{room.rpartition('.')[2]}<" in PICTURE.read_text(encoding="utf-8")
    assert RANKS.keys() >= PURE


def test_a_new_import_changes_the_picture() -> None:
    modules = read_modules()
    extra = Module("service.text.words", "import service.version\n")
    changed = [extra if module.name == extra.name else module for module in modules]
    assert draw(changed) != draw(modules)

"""A lane: turns are given in order, and none is lost."""

import asyncio

import pytest

from service.errors import Overloaded
from service.web.lanes import Lane

pytestmark = pytest.mark.anyio


def lane(running: int = 1, waiting: int = 3, patience: float = 30) -> Lane:
    """Return an empty lane."""
    return Lane("reads", running, waiting, patience, 60)


async def test_who_came_first_goes_first() -> None:
    one, order = lane(), list[int]()

    async def work(number: int) -> None:
        await one.enter()
        order.append(number)
        await asyncio.sleep(0)
        one.leave()

    await asyncio.gather(*[work(number) for number in range(4)])
    assert order == [0, 1, 2, 3]
    assert (one.running, one.waiting) == (0, 0)


async def test_a_full_line_refuses_at_once() -> None:
    one = lane(waiting=0)
    await one.enter()
    with pytest.raises(Overloaded, match="MEMORY_READS_WAITING"):
        await one.enter()
    assert one.refused == {"full": 1, "late": 0}


async def test_who_waits_in_vain_leaves_the_line() -> None:
    one = lane(patience=0.01)
    await one.enter()
    with pytest.raises(Overloaded, match="MEMORY_WAIT_TIMEOUT_SECONDS"):
        await one.enter()
    assert (one.running, one.waiting, one.refused["late"]) == (1, 0, 1)


@pytest.mark.parametrize("has_turn", [False, True])
async def test_who_is_cancelled_takes_no_turn_along(has_turn: bool) -> None:
    one = lane()
    await one.enter()
    waiting = asyncio.create_task(one.enter())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    if has_turn:
        one.leave()  # the turn is the waiting one's, who has not gone on yet
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    if not has_turn:
        one.leave()
    assert (one.running, one.waiting) == (0, 0)


async def test_rivals_take_turns_however_many_one_has_in_line() -> None:
    one, order = lane(waiting=200), list[str]()

    async def work(rival: str) -> None:
        await one.enter(rival)
        order.append(rival)
        await asyncio.sleep(0)
        one.leave()

    await asyncio.gather(*(work("flood") for _ in range(64)), *(work("single") for _ in range(3)))
    assert [n for n, rival in enumerate(order) if rival == "single"] == [2, 4, 6]
    assert (one.running, one.waiting) == (0, 0)


async def test_whoever_fills_the_line_makes_room_for_another() -> None:
    one = lane(waiting=4)
    await one.enter("flood")
    flood = [asyncio.create_task(one.enter("flood")) for _ in range(4)]
    await asyncio.sleep(0)
    single = asyncio.create_task(one.enter("single"))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded, match="MEMORY_READS_WAITING"):
        await flood[-1]
    with pytest.raises(Overloaded):
        await one.enter("flood")
    assert (one.waiting, one.refused["full"]) == (4, 2)
    one.leave()
    one.leave()
    await asyncio.wait_for(single, 10)
    for task in flood[1:]:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)
    # Two share the line as they can: nobody is pushed out by whoever has as much.
    two = lane(waiting=2)
    await two.enter("a")
    waiting = [asyncio.create_task(two.enter(name)) for name in ("a", "b")]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await two.enter("b")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)

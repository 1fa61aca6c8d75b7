"""As many transactions of a crowd are under way as are ended in time, in the order in which they asked."""

import asyncio
from collections import Counter

from harness.chaos.play.concurrency_limit import WANTED_SECONDS, ConcurrencyLimit

IN_TIME, LATE = WANTED_SECONDS / 2, WANTED_SECONDS * 2


def test_no_more_are_under_way_than_the_limit_and_all_have_their_turn_in_order() -> None:
    turns, most = list[int](), Counter[str]()

    async def seat(number: int, limit: ConcurrencyLimit) -> None:
        async with limit:
            most["at once"] = max(most["at once"], limit.under_way)
            turns.append(number)
            await asyncio.sleep(0)

    async def run() -> ConcurrencyLimit:
        limit = ConcurrencyLimit(least=3, most=10)
        await asyncio.gather(*(seat(number, limit) for number in range(20)))
        return limit

    limit = asyncio.run(run())
    assert (turns, most["at once"], limit.under_way) == (list(range(20)), 3, 0)


def test_whoever_waits_comes_before_one_that_goes_on() -> None:
    turns = list[str]()

    async def seat(name: str, limit: ConcurrencyLimit) -> None:
        async with limit:
            turns.append(name)
            await limit.let_others()
            turns.append(name)

    async def run() -> None:
        limit = ConcurrencyLimit(least=1, most=1)
        async with limit:
            seats = [asyncio.create_task(seat(name, limit)) for name in "abc"]
            await asyncio.sleep(0)
        await asyncio.gather(*seats)

    asyncio.run(run())
    assert turns == [*"abcabc"]


def test_a_seat_that_gives_up_while_it_waits_takes_no_place() -> None:
    async def enter(limit: ConcurrencyLimit) -> None:
        async with limit:
            await asyncio.Event().wait()

    async def run() -> int:
        limit = ConcurrencyLimit(least=1, most=1)
        async with limit:
            gives_up, comes_next = asyncio.create_task(enter(limit)), asyncio.create_task(enter(limit))
            await asyncio.sleep(0)
            gives_up.cancel()
        await asyncio.sleep(0)
        under_way = limit.under_way
        comes_next.cancel()
        await asyncio.gather(gives_up, comes_next, return_exceptions=True)
        return under_way - limit.under_way

    assert asyncio.run(run()) == 1, "it was the next one's, who has left it"


def test_the_limit_rises_while_ends_are_in_time_and_falls_while_they_are_late_within_its_bounds() -> None:
    limit = ConcurrencyLimit(least=4, most=8)
    for _ in range(10):
        limit.took(IN_TIME, done=True)
    assert 5 < limit.limit < 7, "it rises step by step"
    for _ in range(100):
        limit.took(IN_TIME, done=True)
    assert limit.limit == limit.highest == 8
    for _ in range(100):
        limit.took(LATE, done=True)
    assert (limit.limit, limit.highest) == (4, 8)


def test_an_end_that_was_not_done_has_taken_too_long_however_soon_it_was_over() -> None:
    limit = ConcurrencyLimit(least=4, most=8)
    limit.took(IN_TIME, done=True)
    risen = limit.limit
    limit.took(0.0, done=False)
    assert limit.limit < risen


def test_where_half_are_late_the_limit_stays() -> None:
    limit = ConcurrencyLimit(least=4, most=80)
    for _ in range(200):
        limit.took(IN_TIME, done=True)
    there = limit.limit
    for number in range(1_000):
        limit.took(IN_TIME if number % 2 else LATE, done=True)
    assert abs(limit.limit - there) < 1

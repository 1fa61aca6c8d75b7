"""As many transactions of a crowd are under way as are ended in time, in the order in which they asked."""

import asyncio
from collections import Counter

from harness.chaos.play.concurrency_limit import WANTED_SECONDS, ConcurrencyLimit

IN_TIME, LATE = WANTED_SECONDS / 2, WANTED_SECONDS * 2


def limited(*, least: int, most: int) -> ConcurrencyLimit:
    """One that begins with the least."""
    return ConcurrencyLimit(least=least, most=most, limit=least)


def test_no_more_are_under_way_than_the_limit_and_all_have_their_turn_in_order() -> None:
    turns, most = list[int](), Counter[str]()

    async def seat(number: int, limit: ConcurrencyLimit) -> None:
        await limit.join()
        most["at once"] = max(most["at once"], limit.under_way)
        turns.append(number)
        await asyncio.sleep(0)
        limit.leave()

    async def run() -> ConcurrencyLimit:
        limit = limited(least=3, most=10)
        await asyncio.gather(*(seat(number, limit) for number in range(20)))
        return limit

    limit = asyncio.run(run())
    assert (turns, most["at once"], limit.under_way) == (list(range(20)), 3, 0)


async def transactions(name: str, limit: ConcurrencyLimit, begun: list[str], most: int = 3) -> None:
    """So many of one seat, each for one turn of the event loop."""
    await limit.join()
    for _ in range(most):
        begun.append(name)
        await asyncio.sleep(0)
        await limit.let_others()
    limit.leave()


def test_a_seat_joins_only_where_none_that_has_begun_wants_the_place() -> None:
    begun = list[str]()

    async def run() -> None:
        limit = limited(least=1, most=1)
        await asyncio.gather(*(transactions(name, limit, begun) for name in "abc"))

    asyncio.run(run())
    assert begun == [*"aaabbbccc"]


def test_where_the_limit_falls_those_who_have_begun_take_turns_and_nobody_joins() -> None:
    begun = list[str]()

    async def run() -> None:
        limit = ConcurrencyLimit(least=1, most=2, limit=2)
        seats = [asyncio.create_task(transactions(name, limit, begun)) for name in "abc"]
        await asyncio.sleep(0)
        limit.limit = 1
        await asyncio.gather(*seats)

    asyncio.run(run())
    assert begun[:6] == [*"ababab"]
    assert begun[6:] == [*"ccc"]


def test_where_the_limit_rises_another_one_joins_though_nobody_leaves() -> None:
    async def run() -> tuple[int, int]:
        limit = limited(least=1, most=2)
        await limit.join()
        joining = asyncio.create_task(limit.join())
        await asyncio.sleep(0)
        before = limit.under_way
        while limit.limit < limit.most:
            limit.took(IN_TIME, done=True)
        await joining
        return before, limit.most_under_way

    assert asyncio.run(asyncio.wait_for(run(), 5)) == (1, 2)


def test_a_seat_that_gives_up_while_it_waits_takes_no_place() -> None:
    async def run() -> int:
        limit = limited(least=1, most=1)
        await limit.join()
        gives_up, comes_next = asyncio.create_task(limit.join()), asyncio.create_task(limit.join())
        await asyncio.sleep(0)
        gives_up.cancel()
        limit.leave()
        await comes_next
        limit.leave()
        return limit.under_way

    assert asyncio.run(run()) == 0


def test_the_limit_rises_while_ends_are_in_time_and_falls_while_they_are_late_within_its_bounds() -> None:
    limit = limited(least=4, most=8)
    for _ in range(10):
        limit.took(IN_TIME, done=True)
    assert 5 < limit.limit < 7, "it rises step by step"
    for _ in range(100):
        limit.took(IN_TIME, done=True)
    assert limit.limit == 8
    for _ in range(100):
        limit.took(LATE, done=True)
    assert limit.limit == 4


def test_an_end_that_was_not_done_has_taken_too_long_however_soon_it_was_over() -> None:
    limit = limited(least=4, most=8)
    limit.took(IN_TIME, done=True)
    risen = limit.limit
    limit.took(0.0, done=False)
    assert limit.limit < risen


def test_where_half_are_late_the_limit_stays() -> None:
    limit = limited(least=4, most=80)
    for _ in range(200):
        limit.took(IN_TIME, done=True)
    there = limit.limit
    for number in range(1_000):
        limit.took(IN_TIME if number % 2 else LATE, done=True)
    assert abs(limit.limit - there) < 1

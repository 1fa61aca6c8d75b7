"""Plants in what the coordinator hands out: producer ids and epochs."""

from dataclasses import replace
from itertools import pairwise
from random import Random

from harness.history.operation import Operation, Outcome
from suites.selfcheck.histories.doctoring import stories, swap
from suites.selfcheck.histories.synthetic import Synthetic

FRESH = 30_000
"""An epoch that no history reaches."""
STEP = 0.05
"""Milliseconds; less than any two events of the model are apart."""


def init_hands_an_epoch_out_again(history: Synthetic, rng: Random) -> bool:
    """Two inits of one transactional id got the same epoch."""
    found = [
        (first, second)
        for inits in _inits(history).values()
        for first, second in pairwise(inits)
        if first.producer_id == second.producer_id and first.ended < second.started
    ]
    if not found:
        return False
    first, second = rng.choice(found)
    swap(history.operations, second, replace(second, epoch=first.epoch))
    return True


def end_hands_the_same_epoch_out(history: Synthetic, rng: Random) -> bool:
    """The end of a transaction of Transactions V2 brought no new epoch."""
    told = [story for story in stories(history) if story.acknowledged]
    found = [
        (story.produces[0], end)
        for story in told
        for end in story.ends
        if end.client == "wire-v2" and end.outcome is Outcome.DONE
    ]
    if not found:
        return False
    before, end = rng.choice(found)
    swap(history.operations, end, replace(end, epoch=before.epoch))
    return True


def fenced_write_is_acknowledged(history: Synthetic, rng: Random) -> bool:
    """Another's init was done before records were acknowledged that are aborted; then their actor inits again."""
    told = [story for story in stories(history) if story.acknowledged]
    found = [
        (story.produces[0], end)
        for story in told
        for end in story.ends
        if end.verb == "abort" and end.outcome is Outcome.DONE
    ]
    if not found:
        return False
    first, last = rng.choice(found)
    init = Operation(
        number=first.number - 1,
        actor=f"{history.name}ghost",
        client="librdkafka",
        verb="init",
        started=first.started - 2 * STEP,
        ended=first.started - STEP,
        outcome=Outcome.DONE,
        transactional_id=first.transactional_id,
    )
    again = replace(init, number=last.number + 1, actor=last.actor, started=last.ended + STEP, ended=last.ended + STEP)
    history.operations += [init, again]
    return True


def one_producer_id_for_two(history: Synthetic, rng: Random) -> bool:
    """Two transactional ids got one producer id."""
    inits = _inits(history)
    found = [(one, other) for one in inits for other in inits if one != other]
    if not found:
        return False
    one, other = rng.choice(found)
    given = rng.choice(inits[one])
    same = replace(given, producer_id=rng.choice(inits[other]).producer_id, epoch=FRESH)
    swap(history.operations, given, same)
    return True


def _inits(history: Synthetic) -> dict[str, list[Operation]]:
    """Inits by transactional id whose client told what it got."""
    inits: dict[str, list[Operation]] = {}
    for one in history.operations:
        if one.verb == "init" and one.outcome is Outcome.DONE and one.producer_id is not None:
            inits.setdefault(str(one.transactional_id), []).append(one)
    return inits

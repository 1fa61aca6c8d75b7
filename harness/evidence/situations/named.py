"""Situations that have a name (:data:`.situation.NAMED`), and the fault that struck in each."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from harness.evidence.situations import situation as words
from harness.evidence.situations.recorded import FaultMoment, LeaderTerm, StateRecord
from harness.evidence.situations.visited import Visits

PREPARED = ("PrepareCommit", "PrepareAbort")


def named(visits: Visits) -> Counter[tuple[str, str]]:
    """Name and fault, with the number of moments that show it."""
    found: Counter[tuple[str, str]] = Counter()
    moved = [(a, b) for a, b in visits.index.neighbours() if b.leader_epoch > a.leader_epoch]
    changed = list(_changes(visits.recorded.terms))
    for moment in visits.recorded.moments:
        names = {*_moved(moved, moment), *_leader_moved(visits, changed, moment), *_in_flight(visits, moment)}
        found.update((name, moment.fault) for name in names)
    return found


def _moved(moved: list[tuple[StateRecord, StateRecord]], moment: FaultMoment) -> Iterator[str]:
    for before, after in moved:
        if _between(before.at, moment, after.at):
            yield from [words.MOVED_OPEN] if before.state == "Ongoing" else []
            yield from [words.MOVED_PREPARED] if before.state in PREPARED else []


def _leader_moved(visits: Visits, changed: list[tuple[LeaderTerm, LeaderTerm]], moment: FaultMoment) -> Iterator[str]:
    for old, new in changed:
        if moment.upto < old.last_marker or new.first_marker < moment.since:
            continue
        states = (visits.index.state(one, old.last_marker, new.first_marker) for one in visits.index.by_id)
        if any(each and each.state == "Ongoing" and old.partition in each.partitions for each in states):
            yield words.LEADER_MOVED_OPEN


def _in_flight(visits: Visits, moment: FaultMoment) -> Iterator[str]:
    for request in visits.held(moment):
        if request.link and any(visits.states_of(request, moment)):
            yield from [words.MARKER_IN_FLIGHT] if request.api == words.MARKERS else []
            yield from [words.VERIFICATION_PENDING] if request.api == words.ADD else []
    if moment.api:
        return
    beside = visits.under_way(moment)
    ending = {each.transactional_id: each.actor for each in beside if each.verb in ("commit", "abort")}
    if any(ending.get(each.transactional_id, each.actor) != each.actor for each in beside if each.verb == "init"):
        yield words.FENCED_WHILE_ENDING


def _changes(terms: tuple[LeaderTerm, ...]) -> Iterator[tuple[LeaderTerm, LeaderTerm]]:
    in_order = sorted(terms, key=lambda term: (term.partition, term.epoch))
    yield from ((old, new) for old, new in pairwise(in_order) if old.partition == new.partition)


def _between(before: float, moment: FaultMoment, after: float) -> bool:
    """Whether the fault can only have struck between the two: both ends of its moment are between them."""
    return before <= moment.since and moment.upto <= after

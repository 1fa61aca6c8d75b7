"""What a search leaves out loses nothing: the same states of brokers, the same broken promise, as near."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import pytest
from msgspec import structs

from harness.model.frozen_map import FrozenMap
from harness.model.model_state import Coordinated, KnownProducer, ModelCluster, PartitionLog
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile
from harness.model.search.compact import compact, renumbered
from harness.model.search.exploration import (
    Search,
    SearchedScope,
    SearchResult,
    explore,
    explore_plainly,
    explore_together,
)
from harness.model.search.plain_events import plain_steps
from harness.model.search.reduced_events import all_sent, reduced_steps
from harness.model.search.search_state import SearchState
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.mutants.mutant import Mutant
from suites.model.scopes import new_client, old_client

SMALL: Mapping[str, tuple[ProtocolProfile, SearchedScope]] = {
    "new, repeated, moved": (NEWEST, SearchedScope(clients=(new_client("one"),), repeats=1, moves=1)),
    "new, two transactions": (NEWEST, SearchedScope(clients=(new_client("one", transactions=2),))),
    "new, two partitions": (NEWEST, SearchedScope(clients=(new_client("one", "A", "B"),), moves=1)),
    "two new ones": (NEWEST, SearchedScope(clients=(new_client("one"), new_client("two")))),
    "old": (OLD_PROTOCOL, SearchedScope(clients=(old_client("one"),), repeats=1, moves=1)),
}
BROKEN: Mapping[str, tuple[ProtocolProfile, SearchedScope, str]] = {
    "no verification": (UNDEFENDED, SearchedScope(clients=(old_client("one"),)), "transaction never ends"),
    "two without it": (
        UNDEFENDED, SearchedScope(clients=(old_client("one"), old_client("two"))), "fenced producer wrote"
    ),
    "the hole of part 1": (
        OLD_PROTOCOL, SearchedScope(clients=(old_client("one", transactions=2),)), "aborted record is readable"
    ),
    "new without it": (replace(NEWEST, verifies=False), SearchedScope(clients=(new_client("one"),)), ""),
}  # fmt: skip
TWO_IDS = (new_client("one"), new_client("two", id_="u"))


def of_brokers(state: SearchState, profile: ProtocolProfile) -> tuple[ModelCluster, frozenset[tuple[int, int]]]:
    """What brokers know, and what was promised of identities."""
    kept = compact(state, profile)
    return kept.cluster, kept.intended.identities


def reached(profile: ProtocolProfile, scope: SearchedScope, *, plain: bool) -> set[str]:
    """Every state of brokers within a scope; the names of two instances that are alike are one as good as the other."""
    kept = renumbered if plain else partial(compact, profile=profile)
    steps, start = (plain_steps, scope.start()) if plain else (reduced_steps, all_sent(scope.start()))
    search = Search(profile=profile, steps=steps, kept=kept, most_states=100_000)
    assert search.run(start).whole
    texts = {str(of_brokers(state, profile)) for state in search.depths}
    return texts | set(map(_swapped, texts))


def _swapped(text: str) -> str:
    return text.replace("one.", "?.").replace("two.", "one.").replace("?.", "two.")


@pytest.mark.parametrize("name", SMALL)
def test_the_same_states_of_brokers_are_reached(name: str) -> None:
    profile, scope = SMALL[name]
    assert reached(profile, scope, plain=False) == reached(profile, scope, plain=True)


@pytest.mark.parametrize("name", BROKEN)
def test_a_hole_is_found_as_near(name: str) -> None:
    profile, scope, only = BROKEN[name]
    plain = explore_plainly(profile, scope, only=only)
    assert plain.broken is not None
    assert told(explore(profile, scope, only=only)) == told(plain)


def told(result: SearchResult) -> tuple[str | None, int]:
    """Which promise is broken first, and how near."""
    return result.broken and result.broken.partition(":")[0], len(result.events)


BREAKING = (
    "a new client's end does not bump the epoch",
    "an unverified write is appended",
    "a marker leaves the transaction open",
    "an open transaction is ended without a new epoch",
    "nothing is verified",
)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.says in BREAKING], ids=lambda each: each.says)
def test_a_wrong_model_breaks_as_near(mutant: Mutant) -> None:
    scope = SearchedScope(clients=(new_client("one"),), repeats=1)
    with mutant.in_force():
        result = explore(NEWEST, scope)
        assert told(result)[1] == told(explore_plainly(NEWEST, scope))[1]


def test_ids_that_share_partitions_are_as_each_by_itself() -> None:
    together = SearchedScope(clients=TWO_IDS)
    joint = Search(
        profile=NEWEST, steps=reduced_steps, kept=partial(compact, profile=NEWEST), most_states=200_000
    )  # fmt: skip
    assert joint.run(all_sent(together.start())).whole
    alone = Search(profile=NEWEST, steps=reduced_steps, kept=partial(compact, profile=NEWEST), most_states=10_000)
    assert alone.run(all_sent(SearchedScope(clients=TWO_IDS[:1]).start())).whole
    expected = {_seen_of("t", state.cluster) for state in alone.depths}
    for name in ("t", "u"):
        assert {_seen_of(name, state.cluster) for state in joint.depths} == expected


def _seen_of(name: str, cluster: ModelCluster) -> tuple[Coordinated | None, tuple[PartitionLog, ...]]:
    """What brokers know of one id, with its producer id called 0 and its offsets counted by itself."""
    known = cluster.ids.get(name)
    if known is None:
        return None, ()
    logs = tuple(_log_of(known.producer_id, log) for log in cluster.logs.values())
    return structs.replace(known, producer_id=0), logs


def _log_of(producer_id: int, log: PartitionLog) -> PartitionLog:
    own = [index for index, entry in enumerate(log.entries) if entry.producer_id == producer_id]
    settled = max((index for index in own if log.entries[index].marker is not None), default=-1)
    left = [index for index in own if index > settled]
    entries = tuple(structs.replace(log.entries[index], producer_id=0, value="") for index in left)
    verification = log.verifications.get(producer_id)
    producers = dict(_producers_of(producer_id, log, left))
    kept = FrozenMap({} if verification is None else {0: structs.replace(verification, number=0)})
    return PartitionLog(entries=entries, producers=FrozenMap(producers), verifications=kept)


def _producers_of(producer_id: int, log: PartitionLog, left: list[int]) -> Iterator[tuple[int, KnownProducer]]:
    if producer_id in log.producers:
        known = log.known(producer_id)
        opened = None if known.open_since is None else left.index(known.open_since)
        batches = tuple((sequence, 0) for sequence, _ in known.batches)
        yield 0, structs.replace(known, open_since=opened, batches=batches)


def test_ids_together_and_each_by_itself_break_alike() -> None:
    profile = replace(NEWEST, verifies=False)
    scope = SearchedScope(clients=TWO_IDS)
    assert told(explore(profile, scope)) == told(explore_together(profile, scope)) == told(
        explore_plainly(profile, SearchedScope(clients=TWO_IDS[:1]))
    )  # fmt: skip


def test_ids_that_are_alike_are_searched_once_and_others_each() -> None:
    alike = SearchedScope(clients=TWO_IDS)
    other = SearchedScope(clients=(new_client("one"), old_client("two", id_="u")))
    assert [len([*scope.of_each_id()]) for scope in (alike, other)] == [1, 2]

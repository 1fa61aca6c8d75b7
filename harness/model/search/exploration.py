"""Nearest first over a scope, against the promises; a broken one is told with the shortest sequence of events."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.model.invariants import broken_anywhere, broken_at_rest
from harness.model.model_state import GROUP, fresh_cluster
from harness.model.modelled_producer import ModelledProducer
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.compact import compact, renumbered
from harness.model.search.plain_events import plain_steps
from harness.model.search.reduced_events import all_sent, reduced_steps
from harness.model.search.search_state import SearchState, SearchStep, brokers_rest

Steps: TypeAlias = Callable[[SearchState, ProtocolProfile], Iterator[SearchStep]]
Kept: TypeAlias = Callable[[SearchState], SearchState]


class SearchResult(Struct, frozen=True, kw_only=True):
    """What was looked at, and the first broken promise.

    :param depth: Plain events to the furthest state. :param whole: Whether every reachable state was looked at.
    :param broken: None where every promise holds in what was looked at.
    :param events: The shortest sequence that leads to it.
    """

    states: int
    depth: int
    seconds: float
    whole: bool
    broken: str | None = None
    events: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Search:
    """One search.

    :param kept: A state without what makes no difference. :param only: How the promise begins that is looked at.
    """

    profile: ProtocolProfile
    steps: Steps
    kept: Kept
    most_states: int
    only: str = ""
    came_from: dict[SearchState, tuple[SearchState, tuple[str, ...]] | None] = field(default_factory=dict)
    depths: dict[SearchState, int] = field(default_factory=dict)
    waiting: dict[int, list[SearchState]] = field(default_factory=lambda: defaultdict(list))

    def run(self, start: SearchState) -> SearchResult:
        """Nearest first, by plain events, until a promise is broken."""
        began, depth = time.monotonic(), 0
        self._found(self.kept(start), None, 0)
        while self.waiting and len(self.depths) < self.most_states:
            depth = min(self.waiting)
            for state in self.waiting.pop(depth):
                if self.depths[state] < depth:
                    continue  # it was found once more, and nearer
                if broken := self._broken(state):
                    return self._result(began, depth, broken, self._way(state))
                for following in self.steps(state, self.profile):
                    after = self.kept(following.after)
                    self._found(after, (state, following.events), depth + len(following.events))
        return self._result(began, depth)

    def _found(self, state: SearchState, before: tuple[SearchState, tuple[str, ...]] | None, depth: int) -> None:
        if depth < self.depths.get(state, depth + 1):
            self.depths[state], self.came_from[state] = depth, before
            self.waiting[depth].append(state)

    def _broken(self, state: SearchState) -> str | None:
        found = [*broken_anywhere(state.cluster, state.intended)]
        if brokers_rest(state, self.profile):
            found += broken_at_rest(state.cluster, state.intended)
        return next((each for each in found if each.startswith(self.only)), None)

    def _result(
        self, began: float, depth: int, broken: str | None = None, events: tuple[str, ...] = ()
    ) -> SearchResult:
        whole = broken is None and not self.waiting
        seconds = time.monotonic() - began
        return SearchResult(
            states=len(self.depths), depth=depth, seconds=seconds, whole=whole, broken=broken, events=events
        )

    def _way(self, state: SearchState) -> tuple[str, ...]:
        events = list[str]()
        while (before := self.came_from[state]) is not None:
            state, told = before
            events[:0] = told
        return tuple(events)


class SearchedScope(Struct, frozen=True, kw_only=True):
    """Clients, and what may go wrong besides lost answers and late messages.

    :param repeats: How many messages may arrive twice. :param moves: How often a coordinator or a leader may move.
    """

    clients: tuple[ModelledProducer, ...]
    repeats: int = 0
    moves: int = 0

    def start(self) -> SearchState:
        """Before anything happens."""
        partitions = sorted({partition for client in self.clients for partition in client.partitions})
        return SearchState(
            cluster=fresh_cluster(*partitions), clients=self.clients, repeats=self.repeats, moves=self.moves
        )

    def of_each_id(self) -> Iterator["SearchedScope"]:
        """The scope of each transactional id by itself; ids whose clients are alike count once.

        Ids share nothing that a rule looks at: a leader knows producers, a coordinator ids. What they share are
        offsets, which decide no answer, and the last stable offset, which another id's open transaction only holds
        back, so that less is readable; at rest none is open. A move strikes all ids, and is one event for each. So what
        happens to one id beside the others happens to it alone as well, and what breaks a promise there breaks it here.
        """
        if any(GROUP in client.partitions for client in self.clients):
            yield self  # a group is shared
            return
        told = set[tuple[ModelledProducer, ...]]()
        for name in dict.fromkeys(client.id for client in self.clients):
            own = tuple(client for client in self.clients if client.id == name)
            alike = tuple(replace(client, name=str(index), id="") for index, client in enumerate(own))
            if alike not in told:
                told.add(alike)
                yield replace(self, clients=own)


def explore(
    profile: ProtocolProfile, scope: SearchedScope, *, only: str = "", most_states: int = 1_000_000
) -> SearchResult:
    """Every state within the scope, each id by itself and without the orders that lead to the same.

    :param only: How the sentence begins on the promise that is looked at, until it is broken; "" for all.
    """
    results = [explore_together(profile, each, only=only, most_states=most_states) for each in scope.of_each_id()]
    broken = min((each for each in results if each.broken), key=lambda each: len(each.events), default=results[0])
    return replace(
        broken,
        states=sum(each.states for each in results),
        depth=max(each.depth for each in results),
        seconds=sum(each.seconds for each in results),
        whole=all(each.whole for each in results),
    )


def explore_together(
    profile: ProtocolProfile, scope: SearchedScope, *, only: str = "", most_states: int = 1_000_000
) -> SearchResult:
    """All ids at once, without the orders that lead to the same."""
    kept = partial(compact, profile=profile)
    search = Search(profile=profile, steps=reduced_steps, kept=kept, most_states=most_states, only=only)
    return search.run(all_sent(scope.start()))


def explore_plainly(
    profile: ProtocolProfile, scope: SearchedScope, *, only: str = "", most_states: int = 1_000_000
) -> SearchResult:
    """The same with every event by itself, in every order."""
    search = Search(profile=profile, steps=plain_steps, kept=renumbered, most_states=most_states, only=only)
    return search.run(scope.start())

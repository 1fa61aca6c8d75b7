"""What the brokers may know at a moment of a trace, and which of it a search has seen already."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.model.frozen_map import FrozenMap
from harness.model.model_requests import DescribeTransactionAsked, ModelAnswer, ModelRequest
from harness.model.model_state import NONE, ModelCluster
from harness.model.traces.traced_cluster import as_told

UNKNOWN_IDS = 1_000_000
"""Added to a producer id that no answer has told: the model's own numbers are far below."""


class WriteUnderWay(Struct, frozen=True):
    """A write whose leader has asked the coordinator. :param confirmed: It was told yes."""

    index: int
    number: int
    confirmed: bool = False


class Configuration(Struct, frozen=True):
    """What the brokers may know at a moment.

    :param ids: The cluster's producer ids by the model's. :param waiting: Requests that were sent and have had no
        effect yet, by index, and how many of each. :param opened: When the open transaction began at the earliest.
    :param beside: The partition beside the next answer's own at which something has happened since the coordinator
        itself did anything (:mod:`harness.model.traces.step_order`). :param unfinished: Whether that was its leader's
        part alone.
    """

    cluster: ModelCluster
    ids: FrozenMap[int, int] = msgspec.field(default_factory=FrozenMap)
    waiting: FrozenMap[int, int] = msgspec.field(default_factory=FrozenMap)
    under_way: frozenset[WriteUnderWay] = frozenset()
    opened: float | None = None
    beside: str = ""
    unfinished: bool = False

    def with_anything_next(self) -> "Configuration":
        """The same where whatever is possible may come next, and not only what belongs to a partition beside."""
        return replace(self, beside="", unfinished=False) if self.beside else self

    def taken(self, index: int) -> "Configuration":
        """With one request of an index that waits less."""
        left = self.waiting[index] - 1
        waiting = self.waiting.put(index, left) if left else self.waiting.without(index)
        return replace(self, waiting=waiting)

    def asked(self, request: ModelRequest) -> ModelRequest:
        """A request whose producer id is the model's for the cluster's."""
        if isinstance(request, DescribeTransactionAsked) or request.producer_id == NONE:
            return request
        known = next((model for model, real in self.ids.items() if real == request.producer_id), None)
        return replace(request, producer_id=UNKNOWN_IDS + request.producer_id if known is None else known)


@dataclass(slots=True)
class SeenConfigurations:
    """Those that a search has met before one answer.

    A request without an answer need never take effect. So of two configurations that are alike in all else, the one
    in which more of them wait can come to whatever the other one comes to, and the other one counts as seen. So does
    one that something at a partition beside must follow, where another one is alike that anything may follow.

    :param answered: The indexes of requests with an answer, which do have to take effect.
    """

    answered: frozenset[int]
    _first: Configuration | None = None
    _waiting: dict[Configuration, list[Mapping[int, int]]] = field(default_factory=dict)

    def add(self, one: Configuration) -> bool:
        """Whether it was not seen yet."""
        if self._first is None:
            self._first = one  # before most answers it stays the only one, so it is compared with none
            return True
        self._take_in_first()
        return self._add(one)

    def _take_in_first(self) -> None:
        if self._first is not None and not self._waiting:
            self._add(self._first)

    def _add(self, one: Configuration) -> bool:
        certain = FrozenMap({index: count for index, count in one.waiting.items() if index in self.answered})
        free = {index: count for index, count in one.waiting.items() if index not in self.answered}
        known = replace(one, waiting=certain)
        seen = self._waiting.setdefault(known, [])
        more = self._waiting.get(known.with_anything_next(), ()) if known.beside else ()
        if any(_is_part(free, each) for each in (*seen, *more)):
            return False
        seen[:] = [*(each for each in seen if not _is_part(each, free)), free]
        return True

    def __iter__(self) -> Iterator[Configuration]:
        """Without the requests that have no answer."""
        self._take_in_first()
        return iter(self._waiting)

    def __bool__(self) -> bool:
        """Whether any was met."""
        return self._first is not None


def _is_part(fewer: Mapping[int, int], more: Mapping[int, int]) -> bool:
    return all(more.get(index, 0) >= count for index, count in fewer.items())


def leaders_know_the_same(before: ModelCluster, after: ModelCluster) -> bool:
    """Then there is nothing to be renumbered, and nothing to be left out."""
    return before.logs is after.logs and before.groups is after.groups and before.verifications == after.verifications


def renumbered(one: Configuration) -> Configuration:
    """Without what makes no difference to any answer, so that what is alike is equal."""
    cluster, numbers = as_told(one.cluster)
    under_way = frozenset(replace(each, number=numbers.get(each.number, len(numbers))) for each in one.under_way)
    return replace(one, cluster=cluster, under_way=under_way)


def same_answer(ids: FrozenMap[int, int], model: ModelAnswer, real: ModelAnswer) -> FrozenMap[int, int] | None:
    """The producer ids as they are known after it; None where the answers differ."""
    if (model.error, model.epoch, model.state) != (real.error, real.epoch, real.state):
        return None
    if model.producer_id == NONE or model.producer_id in ids:
        return ids if ids.get(model.producer_id, NONE) == real.producer_id else None
    return None if real.producer_id in (NONE, *ids.values()) else ids.put(model.producer_id, real.producer_id)

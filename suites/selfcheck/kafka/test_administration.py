"""Changes of a cluster are undone in every case, to what was there before; the cluster is made up, and late at will."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.base import wait
from harness.base.unprepared import OutOfReach, Unprepared
from harness.kafka import administration
from harness.kafka.administration import VERIFICATION, Administration
from harness.wire.api_results import ErrorResult
from harness.wire.offered import Offered
from harness.wire.requests.cluster.describe_configs import (
    DYNAMIC_BROKER,
    DYNAMIC_DEFAULT_BROKER,
    DescribeConfigs,
    DescribeConfigsResult,
)
from harness.wire.requests.cluster.incremental_alter_configs import IncrementalAlterConfigs
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.cluster.update_features import SAFE_DOWNGRADE, UPGRADE, UpdateFeatures
from harness.wire.wire_errors import NoAnswer

STATIC = 4
"""Kafka's ``ConfigSource`` of the properties file."""
FEATURE = "transaction.version"
BROKERS = (1, 2)


@dataclass(slots=True)
class MadeUpCluster:
    """Two brokers; ``values`` has the dynamic values of each and of all (``""``).

    :param silent: Brokers that do not answer.
    :param blind: Brokers that never show a change.
    :param lost: How many changes are taken whose answer is lost.
    """

    values: dict[str, str] = field(default_factory=dict)
    level: int = 2
    silent: set[int] = field(default_factory=set)
    blind: set[int] = field(default_factory=set)
    lost: int = 0
    changes: list[object] = field(default_factory=list)

    def highest(self, _node: int, _api: str) -> int:
        return 1

    def call(self, node: int, request: object, _version: int = 1, *, timeout_seconds: float = 10) -> Any:
        """As the wire client's."""
        assert timeout_seconds > 0
        if node in self.silent:
            raise NoAnswer(f"broker {node} is silent")
        return type("Response", (), {"result": self._result(node, request)})

    def refresh(self, node: int) -> Offered:
        """The finalized features as the broker knows them."""
        if node in self.blind:
            return Offered(finalized_features={FEATURE: 2}, finalized_features_epoch=1)
        return Offered(finalized_features={FEATURE: self.level}, finalized_features_epoch=1 + len(self.changes))

    def _result(self, node: int, request: object) -> object:
        match request:
            case Metadata():
                return type("Known", (), {"controller": BROKERS[0], "error": 0})
            case DescribeConfigs():
                return self._described(node)
            case IncrementalAlterConfigs(resource_name=resource):
                assert resource in ("", str(node)), "a broker's own value is changed at that broker alone"
                self._alter(resource, request.set)
            case UpdateFeatures(level=level, upgrade_type=kind):
                assert kind == (UPGRADE if level > self.level else SAFE_DOWNGRADE) or level == self.level
                self.level = level
        self.changes.append(request)
        if self.lost:
            self.lost -= 1
            raise NoAnswer("the answer is lost")
        return ErrorResult(error=0, error_message=None)

    def _alter(self, resource: str, changed: Mapping[str, str]) -> None:
        if changed:
            self.values[resource] = changed[VERIFICATION]
        else:
            self.values.pop(resource, None)

    def _described(self, node: int) -> DescribeConfigsResult:
        found = {DYNAMIC_BROKER: self.values.get(str(node)), DYNAMIC_DEFAULT_BROKER: self.values.get("")}
        sources: dict[int, str | None] = {source: value for source, value in found.items() if value is not None}
        sources[STATIC] = "true"
        value = "true" if node in self.blind else next(iter(sources.values()))
        return DescribeConfigsResult(
            error=0, error_message=None, configs={VERIFICATION: value}, sources={VERIFICATION: sources}
        )


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is never shown need not be waited for."""
    monkeypatch.setattr(administration, "PROPAGATION_SECONDS", 0.01)


def admin(cluster: MadeUpCluster, before_change: Callable[[str], None] = lambda _what: None) -> Administration:
    return Administration(cluster, BROKERS, before_change=before_change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "before", [{}, {"": "true"}, {"2": "true"}, {"": "false", "1": "true"}], ids=["none", "all", "one", "both"]
)
def test_a_setting_is_as_it_was(before: dict[str, str]) -> None:
    cluster = MadeUpCluster(values=dict(before))
    with admin(cluster).setting(VERIFICATION, "false"):
        assert {admin(cluster).config(broker, VERIFICATION) for broker in BROKERS} == {"false"}
    assert cluster.values == before


def test_a_setting_that_not_every_broker_shows_in_time_is_set_back() -> None:
    cluster = MadeUpCluster(values={"": "true"}, blind={2})
    entered = False
    with pytest.raises(wait.TimedOut, match=VERIFICATION), admin(cluster).setting(VERIFICATION, "false"):
        entered = True
    assert (entered, cluster.values) == (False, {"": "true"})


def test_a_setting_whose_answer_was_lost_is_set_back() -> None:
    cluster = MadeUpCluster(values={"": "true"}, lost=2)
    with pytest.raises(Unprepared, match="lost"), admin(cluster).setting(VERIFICATION, "false"):
        pass
    assert cluster.values == {"": "true"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_setting_is_set_back_after_an_interrupt_and_an_error(error: type[BaseException]) -> None:
    cluster = MadeUpCluster(values={"1": "true"})
    with pytest.raises(error), admin(cluster).setting(VERIFICATION, "false"):
        raise error
    assert cluster.values == {"1": "true"}


def test_what_cannot_be_undone_at_once_is_tried_again() -> None:
    cluster = MadeUpCluster(values={"": "true"})
    with admin(cluster).setting(VERIFICATION, "false"):
        cluster.lost = 3
    assert cluster.values == {"": "true"}


@pytest.mark.parametrize("level", [0, 1])
def test_a_feature_has_the_level_of_before(level: int) -> None:
    cluster = MadeUpCluster()
    with admin(cluster).feature(FEATURE, level):
        assert cluster.level == level
    assert cluster.level == 2


def test_a_feature_that_not_every_broker_shows_in_time_is_set_back() -> None:
    cluster = MadeUpCluster(blind={2})
    with pytest.raises(wait.TimedOut, match=FEATURE), admin(cluster).feature(FEATURE, 1):
        pass
    assert (cluster.level, len(cluster.changes)) == (2, 2)


def test_a_level_that_is_there_already_is_not_changed() -> None:
    cluster = MadeUpCluster()
    with admin(cluster).feature(FEATURE, 2):
        pass
    assert cluster.changes == []


def test_another_broker_is_asked_when_the_first_is_silent() -> None:
    cluster = MadeUpCluster(silent={1})
    admin(cluster)._finalize(FEATURE, 2, 1)
    assert cluster.level == 1


def test_nothing_is_changed_where_it_is_not_allowed() -> None:
    def refuse(what: str) -> None:
        raise OutOfReach(what)

    cluster = MadeUpCluster()
    with pytest.raises(OutOfReach, match=VERIFICATION), admin(cluster, refuse).setting(VERIFICATION, "false"):
        pass
    assert cluster.changes == []

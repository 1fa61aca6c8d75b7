"""Feature levels as steps: what the controller answers, and what each broker then shows."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from harness.base import wait
from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.kafka.topics import PROPAGATION_SECONDS
from harness.lab.step_recorder import StepRecorder
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.requests.cluster.update_features import SAFE_DOWNGRADE, UPGRADE, UpdateFeatures

FEATURES_SHOWN = 4
"""The version of ApiVersions that shows every feature; 3 leaves out those whose lowest level is 0 (KIP-1022)."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Asks and looks over the observer's lane; a stimulus sets back what it changes (``lab.admin.keeping``)."""

    recorder: StepRecorder
    brokers: Sequence[int]
    ask_for_change: Callable[[str], None]

    def ask(
        self, feature: str, level: int, *, down: bool = False, as_: str | None = None, version: int | None = None
    ) -> Step:
        """UpdateFeatures to the first broker, which hands it on to the controller.

        :param down: Whether it may go down: a (safe) downgrade is asked for.
        """
        self.ask_for_change(f"changing the level of {feature}")
        request = UpdateFeatures(feature=feature, level=level, upgrade_type=SAFE_DOWNGRADE if down else UPGRADE)
        used = self.recorder.client.highest(self.brokers[0], request.api) if version is None else version
        noted: dict[str, Json] = {"feature": feature, "level": level, "down": down}
        return self.recorder.ask(self.brokers[0], request, used, as_=as_, request=noted)

    def highest(self, feature: str) -> int:
        """The highest level that every broker supports."""
        ranges = [self.recorder.client.offered(broker).supported_features for broker in self.brokers]
        return min(supported.get(feature, (0, 0))[1] for supported in ranges)

    def now(self, feature: str) -> tuple[int, ...]:
        """The level that each broker shows at this moment, in their order."""
        return tuple(self._level(broker, feature) for broker in self.brokers)

    def shown(self, feature: str, level: int, *, as_: str) -> None:
        """Wait, bounded, until every broker shows the level; then note what each one shows, whatever it is."""
        with suppress(wait.TimedOut):
            wait.until(
                lambda: all(self._level(broker, feature) == level for broker in self.brokers),
                what=f"{feature}={level} on every broker",
                timeout_seconds=PROPAGATION_SECONDS,
                interval_seconds=0.02,
            )
        for broker in self.brokers:
            self.recorder.ask(broker, ApiVersions(), FEATURES_SHOWN, as_=as_)

    def _level(self, broker: int, feature: str) -> int:
        return self.recorder.client.refresh(broker).finalized_features.get(feature, 0)

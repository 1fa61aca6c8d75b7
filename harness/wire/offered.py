"""What a broker advertises; it alone decides which requirements apply, never a version string."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The answer to ApiVersions.

    :param apis: Lowest and highest version of each API, by its name in Kafka's spelling.
    :param supported_features: Lowest and highest level that the broker could run, by feature.
    :param finalized_features: The level that the cluster runs, by feature.
    :param finalized_features_epoch: Grows with every change of the finalized features; -1 when unknown.
    """

    apis: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    supported_features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    finalized_features: Mapping[str, int] = field(default_factory=dict)
    finalized_features_epoch: int = -1
    error: int = 0
    error_message: str | None = None

    def offers(self, api: str, version: int) -> bool:
        """Whether the broker takes that API at that version."""
        low, high = self.apis.get(api, (0, -1))
        return low <= version <= high

    def range_of(self, api: str) -> str:
        """``EndTxn 0–3``, or ``no EndTxn``, for a sentence."""
        if api not in self.apis:
            return f"no {api}"
        low, high = self.apis[api]
        return f"{api} {low}–{high}"

"""DescribeConfigs: the settings of one broker or topic."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields

TOPIC = 2
BROKER = 4

DYNAMIC_BROKER = 2
"""Kafka's ``ConfigEntry.ConfigSource``: a dynamic value of one broker."""
DYNAMIC_DEFAULT_BROKER = 3
"""Likewise: a dynamic value of all brokers, which one of the broker's own goes before."""
DEFAULT_CONFIG = 5
"""Likewise: what the broker's code has where nothing is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeConfigsResult:
    """``configs`` by name; a secret setting's value is None.

    ``origins`` gives where each value comes from (:data:`DYNAMIC_BROKER`, …; -1 at v0), ``read_only`` whether it may
    not be changed. ``sources`` gives, where synonyms were asked for, each setting's values by where they come from.
    """

    error: int
    error_message: str | None
    configs: dict[str, str | None]
    sources: Mapping[str, Mapping[int, str | None]] = field(default_factory=dict)
    origins: Mapping[str, int] = field(default_factory=dict)
    read_only: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeConfigs:
    """Ask for ``keys`` (None: all) of a :data:`TOPIC` or :data:`BROKER`; a broker is asked about itself only."""

    api: ClassVar[str] = "DescribeConfigs"
    resource_type: int
    resource_name: str
    keys: tuple[str, ...] | None = None
    synonyms: bool = False

    def build(self, version: int) -> RequestPayload:
        """One resource, without documentation; synonyms from v1 on (KIP-226)."""
        resource: Value = {
            "resource_type": self.resource_type,
            "resource_name": self.resource_name,
            "configuration_keys": self.keys,
        }
        return request(self.api, version, resources=[resource], include_synonyms=self.synonyms)

    def read(self, response: ResponsePayload) -> DescribeConfigsResult:
        described = ResponseFields(response).first("results")
        return DescribeConfigsResult(
            error=described.error(),
            error_message=described.message(),
            configs={entry.text("name"): entry.message("value") for entry in described.parts("configs")},
            origins={entry.text("name"): entry.number("config_source") for entry in described.parts("configs")},
            read_only={entry.text("name"): bool(entry.number("read_only", 0)) for entry in described.parts("configs")},
            sources={entry.text("name"): _by_source(entry) for entry in described.parts("configs")},
        )


def _by_source(entry: ResponseFields) -> Mapping[int, str | None]:
    """The values under the setting's own name; other names of it (``log.retention.hours``) are other settings."""
    own = [synonym for synonym in entry.parts("synonyms") if synonym.text("name") == entry.text("name")]
    return {synonym.number("source"): synonym.message("value") for synonym in own}

"""DescribeConfigs: the settings of one broker or topic."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields

TOPIC = 2
BROKER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeConfigsResult:
    """``configs`` by name; a secret setting's value is None."""

    error: int
    error_message: str | None
    configs: dict[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeConfigs:
    """Ask for ``keys`` (None: all) of a :data:`TOPIC` or :data:`BROKER`; a broker is asked about itself only."""

    api: ClassVar[str] = "DescribeConfigs"
    resource_type: int
    resource_name: str
    keys: tuple[str, ...] | None = None

    def build(self, version: int) -> RequestPayload:
        """One resource, without synonyms and documentation."""
        resource: Value = {
            "resource_type": self.resource_type,
            "resource_name": self.resource_name,
            "configuration_keys": self.keys,
        }
        return request(self.api, version, resources=[resource])

    def read(self, response: ResponsePayload) -> DescribeConfigsResult:
        described = ResponseFields(response).first("results")
        return DescribeConfigsResult(
            error=described.error(),
            error_message=described.message(),
            configs={entry.text("name"): entry.message("value") for entry in described.parts("configs")},
        )

"""IncrementalAlterConfigs: change single settings of one broker or topic while it runs (KIP-339)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ErrorResult
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields

_SET = 0  # Kafka's AlterConfigOp.OpType
_DELETE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementalAlterConfigs:
    """``set`` settings and ``delete`` others; ``resource_type`` as in DescribeConfigs, ``""`` names all brokers."""

    api: ClassVar[str] = "IncrementalAlterConfigs"
    resource_type: int
    resource_name: str
    set: Mapping[str, str] = field(default_factory=dict)
    delete: tuple[str, ...] = ()

    def build(self, version: int) -> RequestPayload:
        configs: list[Value] = [_operation(name, _SET, value) for name, value in self.set.items()]
        configs += [_operation(name, _DELETE, None) for name in self.delete]
        resource: Value = {"resource_type": self.resource_type, "resource_name": self.resource_name, "configs": configs}
        return request(self.api, version, resources=[resource], validate_only=False)

    def read(self, response: ResponsePayload) -> ErrorResult:
        return ErrorResult.of(ResponseFields(response).first("responses"))


def _operation(name: str, operation: int, value: str | None) -> Value:
    return {"name": name, "config_operation": operation, "value": value}

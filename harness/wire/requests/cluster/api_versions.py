"""ApiVersions: what the broker advertises (KIP-35, KIP-584 for the features)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_names import name_of
from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.offered import Offered


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersions:
    """Ask for the offered version ranges and features."""

    api: ClassVar[str] = "ApiVersions"

    def build(self, version: int) -> RequestPayload:
        """v3 and above name the client's software."""
        return request(self.api, version, client_software_name="fencepost", client_software_version="1")

    def read(self, response: ResponsePayload) -> Offered:
        """v0 to v2 know no features."""
        top = ResponseFields(response)
        keys, supported, finalized = (
            top.parts(name) for name in ("api_keys", "supported_features", "finalized_features")
        )
        return Offered(
            error=top.error(),
            apis={name_of(api.number("api_key")): _range(api) for api in keys},
            supported_features={feature.text("name"): _range(feature) for feature in supported},
            finalized_features={feature.text("name"): feature.number("max_version_level") for feature in finalized},
            finalized_features_epoch=top.number("finalized_features_epoch"),
        )


def _range(part: ResponseFields) -> tuple[int, int]:
    return part.number("min_version"), part.number("max_version")

"""UpdateFeatures: finalize a feature at a level (KIP-584, KIP-778 for the upgrade type)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ErrorResult
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.wire_errors import CannotBuild

UPGRADE = 1
SAFE_DOWNGRADE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateFeatures:
    """Finalize ``feature`` at ``level`` (0 removes it); ``upgrade_type`` must allow it when the level goes down."""

    api: ClassVar[str] = "UpdateFeatures"
    feature: str
    level: int
    upgrade_type: int = UPGRADE
    validate_only: bool = False
    timeout_ms: int = 30_000

    def build(self, version: int) -> RequestPayload:
        """v0 has only whether a downgrade is allowed."""
        if version == 0 and self.validate_only:
            raise CannotBuild("UpdateFeatures v0 cannot only validate")
        update: Value = {
            "feature": self.feature,
            "max_version_level": self.level,
            "allow_downgrade": self.upgrade_type != UPGRADE,
            "upgrade_type": self.upgrade_type,
        }
        return request(
            self.api, version, feature_updates=[update], timeout=self.timeout_ms, validate_only=self.validate_only
        )

    def read(self, response: ResponsePayload) -> ErrorResult:
        """The top level's error, else the feature's (v0, v1)."""
        return ErrorResult.of(ResponseFields(response), *ResponseFields(response).parts("results"))

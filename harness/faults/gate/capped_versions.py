"""The lie that brokers are older: ApiVersions offers some APIs up to a lower version only (KIP-35)."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.faults.gate.lie import LiedRequest
from harness.wire.api_names import name_of
from harness.wire.codec.answer_rewrite import AnswerRewrite
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed


@dataclass(frozen=True, slots=True)
class CappedVersions:
    """Fills :class:`harness.faults.gate.lie.Lie`.

    :param highest: The highest version that is offered, by the API's name in Kafka's spelling.
    :param level: To which every feature seems to be finalized; None to leave that.
    """

    highest: Mapping[str, int]
    level: int | None

    def request(self, asked: LiedRequest) -> object:
        """Forwarded as it is."""
        return asked.body

    def response(self, _asked: LiedRequest, body: object) -> object:
        """The same ranges, but for those of the APIs that are named."""
        offered = tuple(map(self._lowered, ResponseFields(body).parts("api_keys")))
        capped = changed(body, api_keys=offered)
        if self.level is None:
            return capped
        return AnswerRewrite(fields={"max_version_level": self.level, "min_version_level": self.level}).of(capped)

    def _lowered(self, api: ResponseFields) -> object:
        highest = self.highest.get(name_of(api.number("api_key")))
        return api.entity if highest is None else changed(api.entity, max_version=highest)


def capped_versions(level: int | None = None, **highest: int) -> CappedVersions:
    """From plain values."""
    return CappedVersions(highest, level)

"""Lying LSO: the high watermark is given as last stable offset, and read_committed readers get what lies between.

Fetch and ListOffsets are asked as read_uncommitted whatever the reader asked, and the Fetch response gives the high
watermark for both. The broker then sends no list of aborted transactions, and the response says that there are none.
"""

from harness.faults.gate.lie import LiedRequest, with_partitions
from harness.faults.liar import ChaosLiar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed


class LyingLso:
    """Pretends that no transaction is open."""

    def request(self, asked: LiedRequest) -> object:
        """Asked as read_uncommitted."""
        committed = ResponseFields(asked.body).number("isolation_level", 0)
        return changed(asked.body, isolation_level=0) if committed else asked.body

    def response(self, asked: LiedRequest, body: object) -> object:
        """The last stable offset is the high watermark."""
        return with_partitions(body, _all_stable) if asked.info.header.api == "Fetch" else body


def _all_stable(part: object) -> object:
    read = ResponseFields(part)
    if read.number("last_stable_offset") == read.number("high_watermark"):
        return part
    return changed(part, last_stable_offset=read.number("high_watermark"), aborted_transactions=())


LIAR = ChaosLiar(
    name="lying-lso",
    apis=("Fetch", "ListOffsets"),
    shows=("wrong-lso", "dirty-read"),
    lie=f"{__name__}:{LyingLso.__name__}",
)

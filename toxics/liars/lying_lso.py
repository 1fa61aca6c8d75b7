"""The last stable offset is said to be the high watermark, and what lies between is given to read_committed readers.

Fetch and ListOffsets are asked as read_uncommitted whatever the reader asked, and the answer to Fetch tells the high
watermark for both. The broker then gives no list of aborted transactions, and the answer says that there are none.
"""

from harness.faults.gate.lie import LiedRequest, with_partitions
from harness.faults.liar import Liar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed


class LyingLso:
    """There is no open transaction."""

    def request(self, asked: LiedRequest) -> object:
        """Asked as read_uncommitted."""
        committed = ResponseFields(asked.body).number("isolation_level", 0)
        return changed(asked.body, isolation_level=0) if committed else asked.body

    def response(self, asked: LiedRequest, answer: object) -> object:
        """The last stable offset is the high watermark."""
        return with_partitions(answer, _all_stable) if asked.facts.head.api == "Fetch" else answer


def _all_stable(part: object) -> object:
    read = ResponseFields(part)
    if read.number("last_stable_offset") == read.number("high_watermark"):
        return part
    return changed(part, last_stable_offset=read.number("high_watermark"), aborted_transactions=())


LIAR = Liar(
    name="lying-lso",
    apis=("Fetch", "ListOffsets"),
    shows=("wrong-lso", "dirty-read"),
    lie=f"{__name__}:{LyingLso.__name__}",
)

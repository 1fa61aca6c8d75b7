"""Swapped markers: COMMIT for ABORT and the reverse, in control batches that a reader fetches, with valid checksums.

A reader of the raw log sees committed transactions aborted and aborted ones committed; a consumer goes by the list of
aborted transactions, and then seems to deliver what was aborted.
"""

from harness.faults.gate.lie import LiedRequest, with_partitions
from harness.faults.liar import ChaosLiar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed
from harness.wire.records.batch_rewrite import with_markers_swapped


class SwappedMarkers:
    """Swaps every marker."""

    def request(self, asked: LiedRequest) -> object:
        """Forwarded as it is."""
        return asked.body

    def response(self, _asked: LiedRequest, body: object) -> object:
        """With every marker swapped."""
        return with_partitions(body, _swapped)


def _swapped(part: object) -> object:
    log, count = with_markers_swapped(ResponseFields(part).octets("records"))
    return changed(part, records=log) if count else part


LIAR = ChaosLiar(
    name="swapped-markers",
    apis=("Fetch",),
    shows=("resurrected", "lost-commit", "aborted-read"),
    lie=f"{__name__}:{SwappedMarkers.__name__}",
)

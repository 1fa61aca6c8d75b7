"""Hidden aborted list: a Fetch response without aborted transactions; a read_committed consumer shows them (KIP-98).

The records themselves always come; leaving out what was aborted is the consumer's work, by that list.
"""

from harness.faults.gate.lie import LiedRequest, with_partitions
from harness.faults.liar import ChaosLiar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed


class HideAbortedList:
    """Empties the list in every response."""

    def request(self, asked: LiedRequest) -> object:
        """Forwarded as it is."""
        return asked.body

    def response(self, _asked: LiedRequest, body: object) -> object:
        """No transaction was ever aborted."""
        return with_partitions(body, _without_list)


def _without_list(part: object) -> object:
    return changed(part, aborted_transactions=()) if ResponseFields(part).parts("aborted_transactions") else part


LIAR = ChaosLiar(
    name="hide-aborted-list", apis=("Fetch",), shows=("aborted-read",), lie=f"{__name__}:{HideAbortedList.__name__}"
)

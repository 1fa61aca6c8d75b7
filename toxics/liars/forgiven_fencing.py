"""Forgiven fencing: a fenced producer's requests are forwarded under the identity that fenced it (KIP-360, KIP-588).

Its records become part of the newer producer's transaction, and visible when that one commits; its own EndTxn is
answered with success and never forwarded. For clients of Transactions V1, whose epoch stays between transactions.
"""

from dataclasses import dataclass, field

from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.gate.request_info import RequestInfo
from harness.faults.liar import ChaosLiar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed, make_response
from harness.wire.records.batch_rewrite import Identity, with_identity

OLDER = "older"


@dataclass(slots=True)
class ForgivenFencing:
    """Rewrites producer id and epoch. Sequences go on for each identity and partition, so that they have no gap."""

    next_sequences: dict[tuple[int, int, str], int] = field(default_factory=dict)

    def request(self, asked: LiedRequest) -> object:
        """As if the newest producer of the transactional id had sent it."""
        older = asked.latest.compare(asked.info) == OLDER
        match asked.info.header.api:
            case "Produce" if asked.latest.compare(asked.info) in (OLDER, "newest"):
                return self._produce(asked, older)
            case "EndTxn" if older:
                own = asked.info.identities[0]
                return LiedResponse(make_response(asked.info.header, producer_id=own[0], producer_epoch=own[1]))
            case "AddPartitionsToTxn" if older and not ResponseFields(asked.body).has("transactions"):
                producer_id, epoch = _newest(asked)
                return changed(asked.body, v3_and_below_producer_id=producer_id, v3_and_below_producer_epoch=epoch)
            case "AddOffsetsToTxn" | "TxnOffsetCommit" if older:
                producer_id, epoch = _newest(asked)
                return changed(asked.body, producer_id=producer_id, producer_epoch=epoch)
        return asked.body

    def response(self, _asked: LiedRequest, body: object) -> object:
        """Forwarded as it is."""
        return body

    def _produce(self, asked: LiedRequest, older: bool) -> object:
        identity = _newest(asked)
        topics = getattr(asked.body, "topic_data", ())
        rewritten = tuple(self._topic(topic, identity) for topic in topics)
        unchanged = not older and rewritten == topics
        return asked.body if unchanged else changed(asked.body, topic_data=rewritten)

    def _topic(self, topic: object, identity: tuple[int, int]) -> object:
        name = ResponseFields(topic).text("name") or str(ResponseFields(topic).uuid("topic_id"))
        parts = getattr(topic, "partition_data", ())
        return changed(topic, partition_data=tuple(self._part(name, part, identity) for part in parts))

    def _part(self, topic: str, part: object, identity: tuple[int, int]) -> object:
        read = ResponseFields(part)
        key = (*identity, f"{topic}-{read.number('index')}")

        def sequence(batch: Identity) -> int:
            first = self.next_sequences.get(key, 0)
            self.next_sequences[key] = first + batch.count
            return first

        return changed(part, records=with_identity(read.octets("records"), *identity, sequence))


def _newest(asked: LiedRequest) -> tuple[int, int]:
    return asked.latest.by_id[_id(asked.info)]


def _id(info: RequestInfo) -> str:
    return info.transactional_ids[0]


LIAR = ChaosLiar(
    name="forgiven-fencing",
    apis=("Produce", "EndTxn", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit"),
    shows=("fenced-but-visible",),
    lie=f"{__name__}:{ForgivenFencing.__name__}",
)

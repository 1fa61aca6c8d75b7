"""A fenced producer is let through: its requests are forwarded under the identity that fenced it (KIP-360, KIP-588).

Its records become part of the newer producer's transaction, and visible when that one commits; its own EndTxn is
answered with success and never forwarded. For clients of Transactions V1, whose epoch stays between transactions.
"""

from dataclasses import dataclass, field

from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.gate.request_info import RequestInfo
from harness.faults.liar import Liar
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import changed, forged_response
from harness.wire.records.batch_rewrite import Identity, with_identity

OLDER = "older"


@dataclass(slots=True)
class ForgivenFencing:
    """Rewrites who asks. Sequences are counted on for each identity and partition, so that they never jump."""

    following: dict[tuple[int, int, str], int] = field(default_factory=dict)

    def request(self, asked: LiedRequest) -> object:
        """As if the newest producer of the transactional id had asked."""
        older = asked.newest.standing(asked.facts) == OLDER
        match asked.facts.head.api:
            case "Produce" if asked.newest.standing(asked.facts) in (OLDER, "newest"):
                return self._produce(asked, older)
            case "EndTxn" if older:
                own = asked.facts.identities[0]
                return LiedResponse(forged_response(asked.facts.head, producer_id=own[0], producer_epoch=own[1]))
            case "AddPartitionsToTxn" if older and not ResponseFields(asked.body).has("transactions"):
                who, epoch = _newest(asked)
                return changed(asked.body, v3_and_below_producer_id=who, v3_and_below_producer_epoch=epoch)
            case "AddOffsetsToTxn" | "TxnOffsetCommit" if older:
                who, epoch = _newest(asked)
                return changed(asked.body, producer_id=who, producer_epoch=epoch)
        return asked.body

    def response(self, _asked: LiedRequest, answer: object) -> object:
        """What the broker says of it is true."""
        return answer

    def _produce(self, asked: LiedRequest, older: bool) -> object:
        identity = _newest(asked)
        topics = getattr(asked.body, "topic_data", ())
        told = tuple(self._topic(topic, identity) for topic in topics)
        unchanged = not older and told == topics
        return asked.body if unchanged else changed(asked.body, topic_data=told)

    def _topic(self, topic: object, identity: tuple[int, int]) -> object:
        name = ResponseFields(topic).text("name") or str(ResponseFields(topic).uuid("topic_id"))
        parts = getattr(topic, "partition_data", ())
        return changed(topic, partition_data=tuple(self._part(name, part, identity) for part in parts))

    def _part(self, topic: str, part: object, identity: tuple[int, int]) -> object:
        read = ResponseFields(part)
        place = (*identity, f"{topic}-{read.number('index')}")

        def sequence(batch: Identity) -> int:
            first = self.following.get(place, 0)
            self.following[place] = first + batch.count
            return first

        return changed(part, records=with_identity(read.octets("records"), *identity, sequence))


def _newest(asked: LiedRequest) -> tuple[int, int]:
    return asked.newest.known[_id(asked.facts)]


def _id(facts: RequestInfo) -> str:
    return facts.transactional_ids[0]


LIAR = Liar(
    name="forgiven-fencing",
    apis=("Produce", "EndTxn", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit"),
    shows=("fenced-but-visible",),
    lie=f"{__name__}:{ForgivenFencing.__name__}",
)

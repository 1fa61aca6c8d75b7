"""Four requests that show whether a broker is ready, each at a version that every release offers.

Each request has a connection of its own, without ApiVersions first: a broker that is starting is asked many times a
second. Without a usable answer the result is None: a broker that is starting refuses, closes, or answers with an error.
"""

from collections.abc import Mapping
from typing import TypeVar

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.evidence.recorder import NullRecorder
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.describe_quorum import DescribeQuorum
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.groups.find_coordinator import FindCoordinator
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.wire_client import Offered, WireClient
from harness.wire.wire_errors import WireError

ANSWER_SECONDS = 5.0
VERSIONS = {Metadata.api: 1, FindCoordinator.api: 1, InitProducerId.api: 0, DescribeQuorum.api: 0}
OFFERED = Offered(apis={api: (version, version) for api, version in VERSIONS.items()})
NODE = 0  # the client's name for the only broker that it knows
Result = TypeVar("Result", bound=ApiResult)


def brokers(address: Address) -> Mapping[int, Address] | None:
    """The live brokers as the one at ``address`` lists them for that listener."""
    answer = _ask(address, Metadata(topics=()))
    return None if answer is None else {node: Address.parse(str(at)) for node, at in answer.brokers.items()}


def coordinator(address: Address, transactional_id: str) -> int | None:
    """The node that coordinates the transactional id, None while there is none.

    The first such question makes Kafka create ``__transaction_state``.
    """
    answer = _ask(address, FindCoordinator(key=transactional_id))
    return None if answer is None or answer.error else answer.node


def transaction_possible(address: Address, transactional_id: str) -> bool:
    """True when the id's coordinator hands out a producer id."""
    answer = _ask(address, InitProducerId(transactional_id=transactional_id))
    return answer is not None and not answer.error


def quorum_leads(address: Address) -> bool:
    """True when the broker reaches an active controller."""
    answer = _ask(address, DescribeQuorum())
    return answer is not None and not answer.error


def _ask(address: Address, question: ApiRequest[Result]) -> Result | None:
    client = WireClient(
        actor="fencepost-probe",
        lane="observer",
        addresses={NODE: address},
        clock=RunClock(),
        recorder=NullRecorder(),
        offered={NODE: OFFERED},
    )
    try:
        return client.call(NODE, question, VERSIONS[question.api], timeout_seconds=ANSWER_SECONDS).result
    except WireError:
        return None
    finally:
        client.close()

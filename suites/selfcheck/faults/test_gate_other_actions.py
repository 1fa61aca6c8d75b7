"""The gate before a fake broker: an answer of a wrong correlation id, and brokers that seem older."""

import struct

from harness.base.clock import RunClock
from harness.evidence.requirement_evidence import Fault
from harness.faults.gate.capped_versions import capped_versions
from harness.faults.gate.lie import LiedRequest
from harness.faults.gate.request_info import LatestEpochs, RequestInfo
from harness.lab.powers.request_gate import RequestGate
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import RequestHeader, make_response
from suites.selfcheck.fixtures.gate_pair import GatePair, end, read_frame

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)
API_VERSIONS, INIT_PRODUCER_ID, END_TXN = 18, 22, 26


def test_one_answer_has_a_correlation_id_that_nobody_asked_with(pair: GatePair) -> None:
    client, noted = pair.call(), list[Fault]()
    power = RequestGate(open_gate=lambda: pair.gate, clock=RunClock())
    with power.on(pair.proxy, api="EndTxn", action="renumber", name="other id", faults=noted, wish={}) as gated:
        client.ask(1, end(), 3)
        (correlation,) = struct.unpack_from(">i", read_frame(client.connected))
        client.ask(2, end(), 3)
        assert client.answer() == (2, 0)
        gated.wait()
    assert correlation not in (1, 2)
    assert [(strike.fate, strike.error) for strike in noted[0].strikes] == [("answered", 0)]


def test_one_api_is_offered_up_to_a_lower_version_and_the_features_to_a_lower_level() -> None:
    header = RequestHeader(API_VERSIONS, 3, 1, "who", 0)
    keys = [{"api_key": key, "min_version": 0, "max_version": 5} for key in (INIT_PRODUCER_ID, END_TXN)]
    level = {"name": "transaction.version", "max_version_level": 2, "min_version_level": 2}
    body = make_response(header, api_keys=tuple(keys), finalized_features=(level,))
    asked = LiedRequest(info=RequestInfo(header=header), body=body, latest=LatestEpochs())
    capped = ResponseFields(capped_versions(level=1, InitProducerId=2).response(asked, body))
    assert [part.number("max_version") for part in capped.parts("api_keys")] == [2, 5]
    assert [part.number("max_version_level") for part in capped.parts("finalized_features")] == [1]
    same = ResponseFields(capped_versions(InitProducerId=2).response(asked, body))
    assert [part.number("max_version_level") for part in same.parts("finalized_features")] == [2]

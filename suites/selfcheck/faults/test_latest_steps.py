"""What became last of a transactional id, where the gate sees no answer without an error."""

import pytest

from harness.base.kafka_error import KafkaError
from harness.faults.gate.latest_steps import LatestSteps
from harness.faults.gate.request_info import RequestInfo
from harness.wire.api_names import key_of
from harness.wire.frame_codec import RequestHeader


def asked(api: str, *ids: str) -> RequestInfo:
    header = RequestHeader(key=key_of(api), version=3, correlation=1, client_id="", ends=0)
    return RequestInfo(header=header, transactional_ids=ids)


@pytest.mark.parametrize(
    ("error", "fits"),
    [
        (KafkaError.CONCURRENT_TRANSACTIONS, False),  # its coordinator is busy with the id
        (KafkaError.NOT_COORDINATOR, True),
        (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, True),
        (None, True),
    ],
)
def test_an_id_that_its_coordinator_is_busy_with_is_no_unknown_one(error: int | None, fits: bool) -> None:
    steps, init = LatestSteps(), asked("InitProducerId", "one", "other")
    steps.answered(init, error)
    assert steps.fits(init, "nothing") is fits
    assert not steps.fits(init, "init")


def test_a_request_that_names_no_id_fits_only_where_none_is_asked_for() -> None:
    steps = LatestSteps()
    assert steps.fits(asked("Produce"), "")
    assert not steps.fits(asked("Produce"), "nothing")

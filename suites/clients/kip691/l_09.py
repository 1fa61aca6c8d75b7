"""KIP691-L-09: librdkafka speaks the old protocol at every level, with the versions that it was written for.

The maxima are those of ``rdkafka_request.c`` in 2.15 and 2.16 (``rd_kafka_broker_ApiVersion_supported`` of each
request): brokers that advertise more are spoken to as before.
"""

from harness.contract import Evidence, Level, LyingClient, Observations, OtherClient, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import sent
from harness.contract.clients.spoken import spoken_transaction
from harness.contract.clients.spoken_stories import OFFERED, begin, logged
from harness.contract.doctored import log
from harness.contract.expect import NotLooked, unless
from harness.contract.refuters import SOUND_CLIENT
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import joined, transact
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.protocols import UNOFFERED, all_well
from suites.clients.kip588.librdkafka_is_fenced_by_a_timeout import LIBRDKAFKA, SOUND

NAME = "with offsets"
HIGHEST = {
    "Produce": 10,
    "AddPartitionsToTxn": 0,
    "AddOffsetsToTxn": 0,
    "TxnOffsetCommit": 3,
    "EndTxn": 1,
    "InitProducerId": 4,
}


def stimulus(lab: ClientLab) -> None:
    """A transaction with a record and offsets."""
    partition, group = lab.partition(), lab.group()
    app = lab.application(group=group)
    app.init()
    joined(app, "joining", partition)
    transact(app, NAME, partition, group=group)


def check(seen: Evidence) -> Observations:
    """No version is above those that the library knows."""
    spoken_transaction(seen, NAME)
    for api, highest in HIGHEST.items():
        versions = sorted({frame.version for frame in sent(seen, api)})
        if versions:
            yield unless(versions[-1] <= highest, f"{api} {versions}, at most {highest}", otherwise="newer-version")
        else:
            yield NotLooked(what=api)
    yield from all_well(seen, NAME, otherwise="transaction-fails")


def _good(**versions: int) -> Evidence:
    of = {**HIGHEST, **versions}
    sent_ = {api: frame(api, version, epoch=0) for api, version in of.items() if api != "Produce"}
    produce = frame("Produce", of["Produce"], batch("x"))
    calls = [
        call("init", frames=(sent_["InitProducerId"],)),
        begin(NAME),
        call("produce", f"{NAME} P1", name=f"{NAME} produce", frames=(sent_["AddPartitionsToTxn"], produce)),
        call("send_offsets", name=f"{NAME} offsets", frames=(sent_["AddOffsetsToTxn"], sent_["TxnOffsetCommit"])),
        call("commit", name=f"{NAME} end", frames=(sent_["EndTxn"],)),
    ]
    return of_client(*calls, logs={"P1": log(*logged(NAME, new=False))}, library="librdkafka", offered=OFFERED)


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP691-L-09",
    level=Level.SHOULD,
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: Old Clients"),
    statement="librdkafka speaks the old protocol at every level, in versions that it was written for.",
    needs=(TRANSACTIONS, LIBRDKAFKA),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("newer-version", _good(InitProducerId=5)),
        Refusal("transaction-fails", with_call(GOOD, f"{NAME} end", outcome="refused")),
        Refusal("unoffered-version", GOOD.with_fact("offered", {"1": {"Produce": [0, 9]}})),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        LyingClient(lie="aborts-instead", client=SOUND, anomaly="lost"),
        OtherClient(client=SOUND_CLIENT, anomaly="newer-version"),
        LyingClient(lie="refuses-ends", client=SOUND, anomaly="transaction-fails"),
        UNOFFERED,
    ),
)

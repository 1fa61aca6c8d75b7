"""KIP890-COMPAT-03: a client falls back to the old protocol on brokers that do not know the new one.

The brokers are of 3.9, whatever the target: no level of transaction.version, Produce up to 11 and EndTxn up to 4. That
no version is sent beyond those which a broker advertises is what makes it work.
"""

from collections.abc import Mapping

from harness.base.json_value import Json
from harness.contract import Evidence, Liar, LyingClient, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import of_client, with_call
from harness.contract.clients.spoken import FEATURE, NEW, epochs_are, protocols, spoken, within_offered
from harness.contract.clients.spoken_stories import logged, started, told
from harness.contract.doctored import log
from harness.contract.expect import unless
from harness.wire.api_names import key_of
from suites.clients.client_wishes import BROKERS_OF_39
from suites.clients.forms.error_requirement import LIES, TRANSACTIONS
from suites.clients.forms.protocols import TWO, all_well, spoken_ones, two_transactions

OFFERED = {
    "1": {
        "ApiVersions": [0, 4],
        "InitProducerId": [0, 5],
        "AddPartitionsToTxn": [0, 5],
        "AddOffsetsToTxn": [0, 4],
        "Produce": [0, 11],
        "TxnOffsetCommit": [0, 4],
        "EndTxn": [0, 4],
    }
}


def check(seen: Evidence) -> Observations:
    """Both were spoken in the old protocol, in one epoch, and worked."""
    yield from within_offered(seen)
    old = NEW not in protocols(seen.frames)
    yield unless(old, f"no new protocol in {spoken(seen.frames)}", otherwise="new-protocol-to-old-brokers")
    yield from epochs_are(spoken_ones(seen, *TWO), new=False)
    yield from all_well(seen, *TWO, otherwise="old-brokers-fail")


def _good(*, new: bool = False, bumps: int = 0) -> Evidence:
    calls = [started(0), *told("first", new=new, offsets=True), *told("second", new=new, epoch=bumps, offsets=True)]
    offered = {"1": {api: [0, 5] for api in OFFERED["1"]}} if new else OFFERED
    if new:
        offered["1"]["Produce"] = [0, 13]
    return of_client(*calls, logs={"P1": log(*logged(*TWO, new=False))}, offered=offered)  # type: ignore[arg-type]


GOOD = _good()

SEEMING = {
    **OFFERED["1"],
    "Produce": [0, 12],
    "Fetch": [0, 17],
    "ListOffsets": [0, 9],
    "Metadata": [0, 12],
    "OffsetCommit": [0, 9],
    "OffsetFetch": [0, 9],
    "FindCoordinator": [0, 6],
    "JoinGroup": [0, 9],
    "Heartbeat": [0, 4],
    "LeaveGroup": [0, 5],
    "SyncGroup": [0, 5],
}
"""What brokers seem to offer that would have the new protocol's Produce, where they say so of themselves."""
NEWER: Mapping[str, Json] = {
    "api_keys": [
        {"api_key": key_of(api), "min_version": low, "max_version": high} for api, (low, high) in SEEMING.items()
    ],
    "finalized_features": [{"name": FEATURE, "max_version_level": 2, "min_version_level": 2}],
    "finalized_features_epoch": 1_000_000,
}

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-03",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: Old Servers"),
    statement="On brokers that do not know the new protocol every client uses the old one.",
    needs=(TRANSACTIONS,),
    cluster=BROKERS_OF_39,
    stimulus=two_transactions,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("new-protocol-to-old-brokers", _good(new=True)),
        Refusal("epoch-not-kept", _good(bumps=1)),
        Refusal("old-brokers-fail", with_call(GOOD, "second end", outcome="unsure")),
        Refusal("unoffered-version", GOOD.with_fact("offered", {"1": {"Produce": [0, 10]}})),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Liar(api="ApiVersions", fields=NEWER, anomaly="unoffered-version"),
        Liar(api="ApiVersions", fields=NEWER, anomaly="new-protocol-to-old-brokers"),
        LyingClient(lie="refuses-ends", anomaly="old-brokers-fail"),
        *LIES,
    ),
)

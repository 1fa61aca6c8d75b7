"""The contract's form: a requirement with its proof that it can fail, the judge, and the verdict.

Imports nothing else of ours but ``harness.evidence``. Requirement files import their whole vocabulary from here.
"""

from harness.base.kafka_error import KafkaError
from harness.contract import expect
from harness.contract.expect import (
    Finding,
    NotLooked,
    Observation,
    Observations,
    Witness,
    accepted,
    agree,
    finding,
    habit,
    refused,
    row,
    shows,
    struck,
    unless,
    witness,
)
from harness.contract.judge import judge, without_evidence
from harness.contract.level import Level, Profile
from harness.contract.own_cluster import OwnCluster
from harness.contract.refuters import (
    Failpoint,
    Liar,
    LiveRefuter,
    LyingClient,
    OtherClient,
    Refuter,
    Release,
    Setting,
    Unrefuted,
)
from harness.contract.requirement import (
    Ability,
    Access,
    Feature,
    Library,
    Need,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
)
from harness.contract.transaction_result import TransactionResult
from harness.contract.verdict import Status, Verdict, kept, passes
from harness.evidence.requirement_evidence import Evidence, NotSeen

__all__ = [
    "Ability",
    "Access",
    "Evidence",
    "Failpoint",
    "Feature",
    "Finding",
    "KafkaError",
    "Level",
    "Liar",
    "Library",
    "LiveRefuter",
    "LyingClient",
    "Need",
    "NotLooked",
    "NotSeen",
    "Observation",
    "Observations",
    "Offers",
    "Order",
    "OtherClient",
    "OwnCluster",
    "Profile",
    "Refusal",
    "Refuter",
    "Release",
    "Requirement",
    "Setting",
    "Source",
    "Status",
    "TransactionResult",
    "Unrefuted",
    "Verdict",
    "Witness",
    "accepted",
    "agree",
    "expect",
    "finding",
    "habit",
    "judge",
    "kept",
    "passes",
    "refused",
    "row",
    "shows",
    "struck",
    "unless",
    "without_evidence",
    "witness",
]

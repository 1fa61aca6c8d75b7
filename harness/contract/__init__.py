"""The contract's form: a requirement with its proof that it can fail, the judge, and the verdict.

Imports nothing else of ours but ``harness.evidence``. Requirement files import their whole vocabulary from here.
"""

from harness.contract.expect import (
    Finding,
    Observation,
    Witness,
    accepted,
    agree,
    finding,
    refused,
    row,
    shows,
    struck,
    unless,
    witness,
)
from harness.contract.judge import judge
from harness.contract.refuters import Failpoint, Refuter, Release, Setting, Unrefuted
from harness.contract.requirement import Feature, Level, Need, Offers, Order, Refusal, Requirement, Source
from harness.contract.verdict import Status, Verdict, kept

__all__ = [
    "Failpoint",
    "Feature",
    "Finding",
    "Level",
    "Need",
    "Observation",
    "Offers",
    "Order",
    "Refusal",
    "Refuter",
    "Release",
    "Requirement",
    "Setting",
    "Source",
    "Status",
    "Unrefuted",
    "Verdict",
    "Witness",
    "accepted",
    "agree",
    "finding",
    "judge",
    "kept",
    "refused",
    "row",
    "shows",
    "struck",
    "unless",
    "witness",
]

"""``report.json`` of a round and of a session, for machines.

Their schema is ``reports/chaos.schema.json``; the selfcheck holds the two together.
"""

from collections.abc import Sequence

from harness.base.json_value import Json
from harness.evidence.history.judgement import CheckResult, HistoryFinding
from harness.evidence.json_codec import to_plain
from harness.report.chaos.compared.session_times import METHOD
from harness.report.chaos.measured.round_spreads import spreads_document
from harness.report.chaos.measured.session_spreads import session_spreads
from harness.report.chaos.round_results import RoundResults, headline, warnings
from harness.report.chaos.session_results import SessionResults
from harness.report.chaos.visited.session_situations import situations_document

CHAOS_REPORT_FORMAT = 1
"""Version of the document; a field may be added without a new one."""


def round_document(round_: RoundResults) -> dict[str, Json]:
    """A round as plain JSON."""
    return {"format": CHAOS_REPORT_FORMAT, "kind": "chaos-round", **_round(round_)}


def session_document(session: SessionResults) -> dict[str, Json]:
    """A session as plain JSON; ``page`` of each round is relative to the session's folder."""
    return {
        "format": CHAOS_REPORT_FORMAT,
        "kind": "chaos-session",
        "answer": session.headline,
        "passes": session.passes,
        "target": _target(session.rounds),
        "anomalies": dict(session.anomalies),
        "against": _against(session),
        "situations": situations_document(session.situations, session.before),
        "spreads": session_spreads(session.rounds).plain,
        "rounds": [{**_round(each), "page": page} for each, page in zip(session.rounds, session.pages, strict=True)],
    }


def _against(session: SessionResults) -> Json:
    if not session.earlier:
        return None
    return {"earlier": session.earlier, "method": METHOD, "times": [to_plain(each) for each in session.against]}


def _target(rounds: Sequence[RoundResults]) -> Json:
    if not rounds:
        return {"target": "", "identity": "", "backend": "", "versions": {}}
    about = rounds[0].about
    versions = dict(about.versions)
    return {"target": about.target, "identity": about.identity, "backend": about.backend, "versions": versions}


def _round(round_: RoundResults) -> dict[str, Json]:
    timeline = round_.timeline
    return {
        "scenario": round_.scenario,
        "seed": round_.about.seed,
        "conclusion": round_.conclusion,
        "passes": round_.passes,
        "answer": headline(round_),
        "target": _target([round_]),
        "again": round_.again,
        "started": round_.about.started,
        "seconds": round_.about.seconds,
        "anomalies": dict(round_.anomalies),
        "operations": timeline.operations if timeline else None,
        "committed": timeline.committed if timeline else None,
        "faults": [_fault_row(place, round_) for place in range(len(round_.faults))],
        "checks": [_check(check) for check in round_.checks],
        "notes": list(warnings(round_)),
        "situations": situations_document((round_.situations,) if round_.situations else ()),
        "spreads": spreads_document(round_),
    }


def _fault_row(place: int, round_: RoundResults) -> Json:
    fault = round_.faults[place]
    return {"name": fault.name, "where": fault.where, "struck": fault.struck, "how": fault.how}


def _check(check: CheckResult) -> Json:
    return {
        "name": check.name,
        "statement": check.statement,
        "conclusion": check.status.value,
        "witnesses": check.witnesses,
        "anomalies": dict(check.counts),
        "findings": [_finding(found) for found in check.findings],
        "undecided": check.undecided,
        "reason": check.reason,
        "seconds": check.seconds,
    }


def _finding(found: HistoryFinding) -> Json:
    return {
        "anomaly": found.anomaly,
        "detail": found.detail,
        "view": found.view,
        "actor": found.actor,
        "txn": found.txn,
        "topic": found.topic,
        "partition": found.partition,
        "offset": found.offset,
        "producer_id": found.producer_id,
        "epoch": found.epoch,
        "operations": list(found.operations),
    }

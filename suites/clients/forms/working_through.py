"""What is asked of applications that were at work while the cluster was changed, phase by phase."""

from collections.abc import Sequence
from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import NotSeen, Observations, habit
from harness.contract.clients.client_doctored import Told, of_client, with_call
from harness.contract.clients.client_expect import as_it_said
from harness.contract.clients.spoken_stories import OFFERED, logged, started, told
from harness.contract.doctored import log
from harness.contract.expect import agree, unless
from harness.contract.requirement import Refusal
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.at_work import AtWork

PHASES, WORK = "phases", "work"


def phase_over(lab: ClientLab, work: AtWork, name: str, phases: list[Json]) -> None:
    """Wait until the application has committed again, and note the phase's end."""
    began = lab.lab.now()
    work.commits_more()
    phases.append([name, began, lab.lab.now()])
    lab.lab.note(PHASES, [*phases])


def worked_through(seen: Evidence, *phases: str) -> Observations:
    """After each phase something was committed again, nothing is stuck, nothing is lost, and no instance was over.

    Anomalies: ``no-commit-after``, ``stuck-lso``, those of ``as_it_said``, and as a habit ``instance-is-over``.
    """
    noted = seen.fact(PHASES)
    windows = (
        {str(phase[0]): phase[1:] for phase in noted if isinstance(phase, list)} if isinstance(noted, list) else {}
    )
    commits = [call for call in seen.calls if call.call == "commit" and call.done and call.application.startswith(WORK)]
    for phase in phases:
        if phase not in windows:
            raise NotSeen(f"{phase} was not gone through")
        began, over = (float(str(moment)) for moment in windows[phase])
        count = sum(began <= call.answered <= over for call in commits)
        yield unless(count > 0, f"{count} transactions were committed after {phase}", otherwise="no-commit-after")
    yield from as_it_said(seen)
    truth = seen.log("P1")
    yield agree("last stable offset of P1", truth.last_stable_offset, truth.high_watermark, otherwise="stuck-lso")
    names = dict.fromkeys(call.application for call in seen.calls if call.application.startswith(WORK))
    yield habit(agree("instances that were over", len(names) - 1, 0, otherwise="instance-is-over"))


def work_story(*phases: str) -> Evidence:
    """An application that committed one transaction in each phase."""
    calls: list[Told] = [started(by=WORK)]
    names = [f"{WORK} transaction {number}" for number, _ in enumerate(phases, 1)]
    for name in names:
        calls += told(name, new=False, by=WORK)
    seen = of_client(*calls, logs={"P1": log(*logged(*names, new=False))}, offered=OFFERED)
    ends = [call.answered for call in seen.calls if call.call == "commit"]
    windows: Json = [[phase, at - 1, at + 1] for phase, at in zip(phases, ends, strict=True)]
    return replace(seen, facts={**seen.facts, PHASES: windows})


def work_refusals(good: Evidence) -> Sequence[Refusal]:
    """Each anomaly of :func:`worked_through`."""
    first = f"{WORK} transaction 1"
    other = with_call(good, "init", application="work 2")
    truth = good.log("P1")
    return (
        Refusal("no-commit-after", with_call(good, f"{first} end", answered=0.0)),
        Refusal("stuck-lso", good.with_log("P1", last_stable_offset=truth.last_stable_offset - 1)),
        Refusal("lost", good.with_log("P1", committed=truth.committed[1:])),
        Refusal("written-twice", good.with_log("P1", committed=(*truth.committed, truth.committed[0]))),
        Refusal("instance-is-over", other),
    )

"""Facts of ``run.json`` that limit the judgement of a round: errors of the gate, notes of the drain and of clients."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.base.json_value import Json
from harness.evidence.history.judgement import CheckResult, Judgement
from harness.evidence.run_facts import texts_of

GATE_ERRORS, DRAIN_NOTES, CLIENT_NOTES = "gate_errors", "drain_notes", "client_notes"
SHOWN = 5
"""Errors of the gate, and notes of the drain, that are shown; the rest are counted."""


def limited(judgement: Judgement, run: Mapping[str, Json]) -> Judgement:
    """The judgement with a doubt where the gate failed.

    What could not be read after the round, and clients that failed by themselves, are noted.
    """
    checks = (*judgement.checks, *_gate_check(texts_of(run, GATE_ERRORS)))
    notes = (*judgement.notes, *_few(texts_of(run, DRAIN_NOTES)), *texts_of(run, CLIENT_NOTES))
    return replace(judgement, checks=checks, notes=notes)


def _few(notes: Sequence[str]) -> Iterator[str]:
    """Of hundreds of ids that nobody describes each has a note."""
    yield from notes[:SHOWN]
    if len(notes) > SHOWN:
        yield f"{len(notes) - SHOWN} more notes of what could not be read are in run.json ({DRAIN_NOTES})"


def _gate_check(errors: tuple[str, ...]) -> Iterator[CheckResult]:
    """An undecided check where the gate itself failed: what the faults did to requests is then unknown."""
    if errors:
        more = f" (and {len(errors) - SHOWN} more)" if len(errors) > SHOWN else ""
        yield CheckResult(
            name="the-gate-worked",
            statement="The gate, which holds, drops and repeats single requests, had no error of its own.",
            witnesses=0,
            undecided=f"the gate had errors of its own: {'; '.join(errors[:SHOWN])}{more}",
        )

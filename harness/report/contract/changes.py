"""What differs between a run and an earlier one: ``--against RUN``.

The earlier run's verdicts are copied into this run's ``run.json``, so that its pages can be made again without it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.evidence.run_folder import RunFolder
from harness.report.contract.results import RequirementResult, join
from harness.report.shared.given_verdicts import verdicts_of
from harness.report.shared.run_metadata import RunMetadata, run_metadata
from harness.report.shared.status_marks import StatusMark, mark
from harness.report.shared.words import NOT_JUDGED, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedVerdict:
    """A requirement that is judged otherwise now; ``before`` and ``after`` are in words."""

    id: str
    statement: str
    before: str
    before_mark: StatusMark
    after: str
    after_mark: StatusMark


def earlier_run(folder: RunFolder) -> Json:
    """What ``run.json`` keeps of an earlier run; :raises UserError: when nothing was judged in it."""
    about, verdicts = run_metadata(folder.run()), verdicts_of(folder)
    if not verdicts:
        raise UserError(f"{folder.path}: nothing was judged in this run", exit=ExitCode.USAGE)
    results = join((), verdicts, about.profile, about.than)
    given: dict[str, Json] = {result.row.id: result.words for result in results}
    statuses: dict[str, Json] = {result.row.id: result.status for result in results}
    return {"name": about.name, "started": about.started, "verdicts": given, "statuses": statuses}


def against(about: RunMetadata) -> str:
    """The earlier run in a phrase: ``Kafka 4.3.0, 2026-08-22 10:00 UTC``; "" where there is none."""
    named = (str(about.against.get("name", "")), moment(str(about.against.get("started", ""))))
    return ", ".join(filter(None, named))


def changes(about: RunMetadata, entries: Sequence[RequirementResult]) -> tuple[ChangedVerdict, ...]:
    """Every requirement that was judged now and is not as it was; () where there is no earlier run."""
    before, statuses = _texts(about.against.get("verdicts")), _texts(about.against.get("statuses"))
    return tuple(
        ChangedVerdict(
            id=entry.row.id,
            statement=entry.row.statement,
            before=before.get(entry.row.id, "not judged"),
            before_mark=mark(statuses.get(entry.row.id, NOT_JUDGED)),
            after=entry.words,
            after_mark=mark(entry.status),
        )
        for entry in entries
        if about.against and entry.verdict and before.get(entry.row.id) != entry.words
    )


def _texts(value: Json) -> Mapping[str, str]:
    return {name: str(each) for name, each in value.items()} if isinstance(value, dict) else {}

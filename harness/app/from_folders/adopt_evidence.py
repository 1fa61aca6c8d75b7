"""``fencepost adopt``: the evidence of a sound run becomes what a requirement's check must accept."""

from pathlib import Path

from harness.app.from_folders.run_folders import catalogue_of
from harness.base.atomic_write import write_atomically
from harness.base.user_error import ExitCode, UserError
from harness.contract.adoption import adopt, document
from harness.contract.doctored import ADOPTED
from harness.evidence.run_folder import RunFolder


def adopt_from(folder: Path, id_: str, *, into: Path | None = None) -> Path:
    """Write the requirement's evidence, made small and stable, into ``into`` or ``<ID>.accepts.json`` beside its file.

    :raises UserError: When the folder cannot be read, has no evidence of the requirement, or it does not HOLD there.
    """
    run = RunFolder.open(folder)
    stated = {entry.requirement.id: entry for entry in catalogue_of(run)}
    if (entry := stated.get(id_)) is None:
        raise UserError(f"{id_} is no requirement; ids are in 'fencepost list'", exit=ExitCode.USAGE)
    evidence = dict(run.evidence()).get(id_)
    if evidence is None:
        raise UserError(f"{folder} has no evidence of {id_}", exit=ExitCode.EVIDENCE_UNREADABLE)
    place = into or entry.file.parent / f"{id_}{ADOPTED}"
    write_atomically(place, document(adopt(entry.requirement, evidence)))
    return place

"""Which run folders a person means by a folder: itself, or those of a session on several clients."""

from collections.abc import Sequence
from pathlib import Path

from harness.base.paths import CLIENTS, CONTRACT
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find
from harness.evidence.run_folder import RunFolder
from harness.report.shared.run_metadata import run_metadata

DESCRIPTION = "run.json"


def run_folders(folder: Path) -> Sequence[Path]:
    """The folder, or where it is no run's the run folders in it, by name."""
    if (folder / DESCRIPTION).is_file():
        return (folder,)
    return tuple(sorted(each.parent for each in folder.glob(f"*/{DESCRIPTION}"))) or (folder,)


def catalogue_of(folder: RunFolder) -> Sequence[CatalogueEntry]:
    """The requirements that the run judged by: those of clients where it has judged a client."""
    return tuple(find(CLIENTS if run_metadata(folder.run()).client else CONTRACT))

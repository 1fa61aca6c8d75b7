"""The last step of a run and of a replay: from a sealed folder to ``report.json`` and ``index.html``, offline."""

from collections.abc import Sequence
from pathlib import Path

from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.verdict import Verdict
from harness.evidence.exchange import Exchange
from harness.evidence.run_folder import RunFolder
from harness.report.contract.document import document
from harness.report.contract.page_view import page
from harness.report.contract.results import join
from harness.report.shared.published_files import replay_command, write_report
from harness.report.shared.rendering import rendered
from harness.report.shared.run_metadata import run_metadata


def publish(folder: RunFolder, rows: Sequence[RequirementRow], verdicts: Sequence[Verdict]) -> Path:
    """Write ``report.json`` and ``index.html`` from the folder alone; the path of the page.

    :raises UserError: When the folder's evidence or journal cannot be read.
    """
    about = run_metadata(folder.run())
    entries = join(rows, verdicts, about.profile, about.than)
    exchanges, notes = _journal(folder)
    replay, evidence = replay_command(folder.path), dict(folder.evidence())
    shown = page(about, entries, evidence, exchanges, replay=replay, notes=notes)
    return write_report(folder.path, document(about, entries, notes), rendered("contract/page.html.j2", page=shown))


def _journal(folder: RunFolder) -> tuple[tuple[Exchange, ...], tuple[str, ...]]:
    if not (folder.path / "journal.jsonl").is_file():
        return (), ("The run left no journal: it ended before the first exchange.",)
    exchanges, torn = folder.exchanges()
    return exchanges, (torn,) if torn else ()

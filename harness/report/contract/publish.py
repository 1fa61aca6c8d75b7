"""The last step of a run and of a replay: from a sealed folder to ``report.json`` and ``index.html``, offline."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.contract.requirement_catalogue import RequirementRow
from harness.contract.verdict import Verdict
from harness.evidence.exchange import Exchange
from harness.evidence.run_folder import RunFolder
from harness.report.contract.document import document
from harness.report.contract.page_view import Page, page
from harness.report.contract.results import join
from harness.report.contract.run_metadata import about
from harness.report.shared.rendering import rendered


def publish(folder: RunFolder, rows: Sequence[RequirementRow], verdicts: Sequence[Verdict]) -> Path:
    """Write ``report.json`` and ``index.html`` from the folder alone; the path of the page.

    :raises Trouble: When the folder's evidence or journal cannot be read.
    """
    run, entries = about(folder.run()), join(rows, verdicts)
    exchanges, notes = _journal(folder)
    report = document(run, entries, notes)
    _write(folder.path / "report.json", json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    shown = page(run, entries, dict(folder.evidence()), exchanges, replay=replay_command(folder), notes=notes)
    return _write(folder.path / "index.html", render(shown))


def render(page: Page) -> str:
    """The page as one self-contained HTML document."""
    return rendered("page.html.j2", page=page)


def replay_command(folder: RunFolder) -> str:
    """The command that judges the folder again."""
    return f"fencepost replay {shlex.quote(str(folder.path))}"


def _journal(folder: RunFolder) -> tuple[tuple[Exchange, ...], tuple[str, ...]]:
    if not (folder.path / "journal.jsonl").is_file():
        return (), ("The run left no journal: it ended before the first exchange.",)
    exchanges, torn = folder.exchanges()
    return exchanges, (torn,) if torn else ()


def _write(path: Path, text: str) -> Path:
    torn = path.with_name(path.name + ".part")
    torn.write_text(text, encoding="utf-8", errors="replace")
    torn.replace(path)
    return path

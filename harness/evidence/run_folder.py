"""The run folder: everything that a run leaves, in a layout that replay and people can rely on.

A round of chaos has one as well: its ``run.json`` has ``"kind": "chaos"``, and its tables are described in
:mod:`harness.evidence.history.history_journal`. A qualification leaves::

    run.json                 what was run: target, seed, backend, the command that runs it again (written at open)
    journal.jsonl            every exchange, one line each, in the order in which they ended
    evidence/<ID>.json       the evidence of one requirement (written before it is judged)
    verdicts.jsonl           every verdict as it was given, so that an interrupted run keeps what was judged
    logs/                    the brokers' logs
    report.json, junit.xml, allure-results/, index.html    what ``publish`` makes of them
    SEALED                   there once nothing but ``publish`` may write any more

The journal and the verdicts are flushed line by line: a run that is killed loses at most its last, torn line, which
the reader drops and reports.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.evidence.exchange import Exchange
from harness.evidence.journal import ExchangeJournal
from harness.evidence.json_codec import Malformed, from_json, to_json
from harness.evidence.requirement_evidence import Evidence

FORMAT = 1
"""Version of the folder's layout; a reader refuses another one."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run's folder on disk; the paths are absolute."""

    path: Path

    @classmethod
    def create(cls, path: Path, run: Mapping[str, Json]) -> "RunFolder":
        """Make the folder and write ``run.json`` and the time; :raises UserError: when it already holds a run."""
        folder = cls(path.absolute())
        if (folder.path / "run.json").exists():
            raise UserError(f"{path} already holds a run; choose another --report-dir", exit=ExitCode.USAGE)
        folder.path.mkdir(parents=True, exist_ok=True)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        folder._write_run({"format": FORMAT, "started": started, **run})
        return folder

    @classmethod
    def open(cls, path: Path, *, kind: str = "contract", layout: int = FORMAT) -> "RunFolder":
        """A folder that some run left.

        :param kind: ``kind`` of ``run.json``; a qualification's has none.
        :param layout: The one format that the caller reads.
        :raises UserError: EVIDENCE_UNREADABLE, when it is no run folder, or of another kind or format.
        """
        folder = cls(path.absolute())
        if not (folder.path / "run.json").is_file():
            raise UserError(f"{path} is no run folder: it has no run.json", exit=ExitCode.EVIDENCE_UNREADABLE)
        run, sentence = folder._read_run(), ""
        if not isinstance(run, dict) or run.get("kind", "contract") != kind:
            found = run.get("kind", "contract") if isinstance(run, dict) else None
            sentence = f"{path}/run.json is not of a {kind} run: its kind is {found}"
        elif (found := run.get("format")) != layout:
            sentence = f"{path} has format {found}; this Fencepost reads format {layout}"
        if sentence:
            raise UserError(sentence, exit=ExitCode.EVIDENCE_UNREADABLE)
        return folder

    def add_to_run(self, facts: Mapping[str, Json]) -> None:
        """Put more into ``run.json``, whole or not at all."""
        self._write_run({**self.run(), **facts})

    def run(self) -> dict[str, Json]:
        """``run.json``; :raises UserError: when it cannot be read."""
        run = self._read_run()
        if not isinstance(run, dict):
            raise UserError(f"{self.path}/run.json is no JSON object", exit=ExitCode.EVIDENCE_UNREADABLE)
        return run

    def _read_run(self) -> Json:
        try:
            run: Json = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            sentence = f"{self.path}/run.json cannot be read: {error}"
            raise UserError(sentence, exit=ExitCode.EVIDENCE_UNREADABLE) from error
        return run

    def _write_run(self, run: Mapping[str, Json]) -> None:
        write_atomically(self.path / "run.json", json.dumps(run, indent=1, ensure_ascii=False))

    def journal(self) -> ExchangeJournal:
        return ExchangeJournal(self.path / "journal.jsonl")

    def exchanges(self) -> tuple[tuple[Exchange, ...], str | None]:
        """Every exchange, and what was dropped (a torn last line), if anything.

        :raises UserError: When a line other than the last is malformed.
        """
        path = self.path / "journal.jsonl"
        if not path.is_file():
            raise UserError(f"{self.path} has no journal.jsonl", exit=ExitCode.EVIDENCE_UNREADABLE)
        read: list[Exchange] = []
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines, start=1):
            try:
                if line:
                    read.append(from_json(Exchange, line))
            except Malformed as error:
                if number == len(lines):
                    return tuple(read), f"journal.jsonl: torn last line {number} dropped"
                sentence = f"{path}, line {number}: {error}"
                raise UserError(sentence, exit=ExitCode.EVIDENCE_UNREADABLE) from error
        return tuple(read), None

    def write_evidence(self, requirement: str, evidence: Evidence) -> None:
        """Keep the evidence of one requirement; written before it is judged."""
        (self.path / "evidence").mkdir(exist_ok=True)
        write_atomically(self.path / "evidence" / f"{requirement}.json", to_json(evidence))

    def evidence(self) -> Iterator[tuple[str, Evidence]]:
        """Each requirement's id with its evidence; :raises UserError: when a file is malformed."""
        for path in sorted((self.path / "evidence").glob("*.json")):
            try:
                yield path.stem, from_json(Evidence, path.read_text(encoding="utf-8"))
            except (Malformed, UnicodeDecodeError) as error:
                raise UserError(f"{path}: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error

    def append_verdict(self, line: str) -> None:
        """Keep one verdict, as one line of JSON."""
        with (self.path / "verdicts.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def seal(self) -> None:
        """From here on nothing but ``publish`` writes."""
        write_atomically(self.path / "SEALED", "")

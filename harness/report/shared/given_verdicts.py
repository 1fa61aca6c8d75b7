"""The verdicts of a run folder as they were given."""

from harness.base.user_error import ExitCode, UserError
from harness.contract.verdict import Verdict
from harness.evidence.json_codec import Malformed, from_json
from harness.evidence.run_folder import RunFolder


def verdicts_of(folder: RunFolder) -> list[Verdict]:
    """One for each line; none where nothing was judged. :raises UserError: when a line cannot be read."""
    path = folder.path / "verdicts.jsonl"
    if not path.is_file():
        return []
    try:
        return [from_json(Verdict, line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except Malformed as error:
        raise UserError(f"{path}: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error

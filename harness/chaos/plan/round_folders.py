"""Which folders hold chaos: a round, or a session of rounds; asked before Spark is started."""

from pathlib import Path

from harness.base.user_error import UserError
from harness.evidence.run_folder import RunFolder


def rounds_of(folder: Path) -> tuple[Path, ...]:
    """The round folders: the folder itself, or those below it; none where it is something else."""
    if (folder / "history").is_dir() or _is_chaos_run(folder):
        return (folder,)
    return tuple(sorted(path for path in folder.glob("*/") if was_played(path) or _was_beyond(path)))


def rounds_below(folder: Path) -> tuple[Path, ...]:
    """The rounds of chaos in a folder at any depth; nothing is looked for inside of a run's own folder."""
    if (folder / "run.json").is_file():
        return (folder,) if _is_chaos_run(folder) else ()
    inner = sorted(each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
    return tuple(round_ for each in inner for round_ in rounds_below(each))


def was_played(folder: Path) -> bool:
    """Whether a round left a history; one whose scenario was out of reach left none."""
    return (folder / "history").is_dir()


def _was_beyond(folder: Path) -> bool:
    try:
        return "out_of_reach" in RunFolder(folder).run()
    except UserError:
        return False


def _is_chaos_run(folder: Path) -> bool:
    try:
        return RunFolder(folder).run().get("kind") == "chaos"
    except UserError:
        return False

"""What the benchmarks share: one version, and a warm run on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.run_options import RunOptions
from harness.evidence.run_folder import RunFolder
from harness.run import Run, close, open_target

VERSION = "4.3.1"


@pytest.fixture(scope="module")
def warm_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run whose cluster is up and has seen its first transaction.

    A session of Spark that it opened ends with it, since a process has one at a time.
    """
    folder = RunFolder.create(tmp_path_factory.mktemp("bench") / "run", {"target": f"kafka:{VERSION}"})
    options = RunOptions(target=f"kafka:{VERSION}", folder=Path(folder.path), backend="process")
    run = Run(options=options, folder=folder, journal=folder.journal())
    try:
        open_target(run)
        yield run
    finally:
        close(run)

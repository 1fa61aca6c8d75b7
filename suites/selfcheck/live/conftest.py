"""One cluster for the files of a session that leave a cluster as it was."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from harness.cluster.cluster import Cluster
from suites.selfcheck.fixtures.live_clients import process_cluster


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Of 4.3.1, on local processes; whoever disturbs it heals it before the test ends."""
    with closing(process_cluster("4.3.1", tmp_path_factory.mktemp("shared"))) as running:
        yield running

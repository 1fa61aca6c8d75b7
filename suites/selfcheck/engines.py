"""The container engine for tests that need one, and what runs left on it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from harness.cluster.docker.engine import Engine, reach
from harness.cluster.docker.ownership import RUN
from harness.trouble import Trouble
from suites.selfcheck.skips import Missing, skip_missing


@contextmanager
def engine() -> Iterator[Engine]:
    """The engine that answers; without one the test is skipped, with the reason."""
    try:
        found = reach()
    except Trouble as silent:
        skip_missing(Missing.ENGINE, remedy=str(silent))
    with closing(found):
        yield found


def left_on_engine() -> set[str]:
    """Ids of the containers, networks and volumes of all runs of Fencepost."""
    wanted = {"label": RUN}
    with engine() as found:
        api = found.sdk.api
        things = (*api.containers(all=True, filters=wanted), *api.networks(filters=wanted))
        volumes = api.volumes(filters=wanted)["Volumes"] or ()
    return {str(thing["Id"]) for thing in things} | {str(volume["Name"]) for volume in volumes}

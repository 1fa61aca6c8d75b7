"""``fencepost explore A``, with its page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version as installed_version

from harness.base.paths import WALKS
from harness.base.user_error import ExitCode
from harness.explore.explore_options import ExploreOptions
from harness.explore.explored_cells import explore
from harness.explore.findings import CELLS
from harness.explore.walks.walk_exploration import explore_walks
from harness.report.model.publish_coverage import publish_coverage


def explore_target(options: ExploreOptions) -> ExitCode:
    """The exploration, and its page, also of what was compared before a target was lost."""
    if options.walk_seconds is not None:
        return explore_walks(options, WALKS)
    with page_of_cells(options):
        return explore(options)


@contextmanager
def page_of_cells(options: ExploreOptions) -> Iterator[None]:
    """Of those that are asked in the block."""
    try:
        yield
    finally:
        if (options.run.folder / CELLS).exists():
            fencepost = installed_version("fencepost")
            page = publish_coverage(options.run.folder, target=options.run.target, fencepost=fencepost)
            sys.stdout.write(f"report  {page}\n")

"""Which failpoints are tried, where that is kept and for how long: the options of every command that tries them."""

import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from harness.app.option_table import part_of
from harness.chaos.plan.chaos_options import parse_seconds
from suites.model.failpoints.known_failpoints import KnownFailpoint


def add_trial_options(parser: ArgumentParser, page: Path, kept: str) -> None:
    """``--into``, ``--select``, ``--part``, ``--budget``, ``--page`` and ``--backend``.

    :param page: The page that is made by default. :param kept: What DIR holds, in words.
    """
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help=kept)
    parser.add_argument(
        "--select", default="", metavar="TEXT", help="only those whose key, rule or place has this text"
    )
    parser.add_argument(
        "--part",
        type=part_of,
        default=(1, 1),
        metavar="K/N",
        help="every N-th of them, each part with a DIR of its own",
    )
    parser.add_argument("--budget", metavar="TIME", help="begin with no other one after that time (90s, 10m, 2h)")
    parser.add_argument(
        "--page", type=Path, default=page, help=f"where the page goes (default: {page.parent.name}/{page.name})"
    )
    parser.add_argument("--backend", default="auto", help="auto, process or docker")


def chosen(in_order: Sequence[KnownFailpoint], given: Namespace) -> Sequence[KnownFailpoint]:
    """Those of the part, in this order, that have the text."""
    part, parts = given.part
    mine = in_order[part - 1 :: parts]
    return [each for each in mine if given.select in " ".join([each.key, *each.names, *each.places])]


def end_of(given: Namespace) -> float:
    """When no other one begins, on the monotonic clock, in seconds."""
    return time.monotonic() + (math.inf if given.budget is None else parse_seconds(given.budget))

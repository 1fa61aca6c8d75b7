"""``--upgrade FROM..TO``: a cluster that is started with one release, and upgraded to another while clients work."""

import re
from argparse import ArgumentTypeError
from dataclasses import dataclass, replace

from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import ClusterOptions
from harness.cluster.opening import why_not_made
from harness.cluster.target import parse_target
from harness.cluster.topology import CONTROLLERS, brokers_of

VERSION = r"\d+\.\d+\.\d+"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What it was asked for.

    :param first: The release that every node is started with. :param to: The other one; empty where the target is it.
    """

    first: str
    to: str = ""

    def target(self, given: str) -> str:
        """The target's name, which is what the nodes are upgraded to; :raises UserError: USAGE, where it is not one."""
        named = f"kafka:{self.to}" if self.to else given
        if not named:
            raise UserError(
                f"--upgrade {self.first}..: name what to upgrade to, {self.first}..4.3.1", exit=ExitCode.USAGE
            )
        if given and given != named:
            raise UserError(f"--upgrade ends at {named}, and the target is {given}: name one", exit=ExitCode.USAGE)
        return named

    def started(self, options: ClusterOptions, *, target: str, backend: str) -> ClusterOptions:
        """The options of a cluster that begins with the first release; :raises UserError: where none can be made."""
        nodes = (*brokers_of(options.brokers), *CONTROLLERS[: options.controllers])
        begun = replace(options, releases=dict.fromkeys(nodes, self.first))
        if why := why_not_made(parse_target(target), backend, begun):
            raise UserError(
                f"--upgrade {self.first}..: {why}; name a target that is started here: kafka:4.3.1", exit=ExitCode.USAGE
            )
        return begun


def upgrade_of(text: str) -> Upgrade:
    """``3.9.2..4.3.1``, or ``3.9.2..`` where the target is named; :raises ArgumentTypeError: for anything else."""
    found = re.fullmatch(rf"({VERSION})\.\.({VERSION})?", text)
    if not found:
        raise ArgumentTypeError(f"{text!r} is no upgrade: write 3.9.2..4.3.1")
    return Upgrade(found[1], found[2] or "")

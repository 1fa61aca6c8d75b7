"""Libraries for Node.js, by npm, each with a ``node_modules`` of its own."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.base.user_error import UserError
from harness.clients.toolchains.package_client import copy_sources, last_words, missing_tools, said, unknown_version
from harness.clients.toolchains.program import Program

CPUS = os.cpu_count() or 1
COMPILERS = 4
"""For each processor, where a package builds without a limit of its own."""
QUICK_BUILD = "-O1 -g0"

ENVIRONMENT = {
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_update_notifier": "false",
    "npm_config_json": "true",  # errors too are objects then
    "npm_config_engine_strict": "true",  # a Node.js that is too old for the library is an error
    # confluent-kafka-javascript fetches a binary, and builds its own sources where it cannot: "static" would then
    # fetch the sources of OpenSSL, zlib, zstd and curl too, "dynamic" takes those that the system has.
    "CKJS_LINKING": "dynamic",
    # It builds librdkafka with "make -j", which is as many compilers at once as there are files. The load is the whole
    # machine's: with a limit as low as its processors, one that is busy with something else builds file by file.
    "MAKEFLAGS": f"--max-load={COMPILERS * CPUS}",
    # Its own are -g -O2 and -O3: twice the time and 300 MB, for speed that is not what is judged.
    "CFLAGS": QUICK_BUILD,
    "CXXFLAGS": QUICK_BUILD,
}
"""What npm and the packages' own scripts are told."""
NOT_FOUND = "E404"


class Npm:
    """Fills :class:`harness.clients.toolchains.program.Toolchain` with the node and npm on the PATH."""

    language = "Node.js"

    def missing(self) -> str | None:
        return missing_tools("node", "npm")

    def resolve(self, program: Program, wanted: str) -> str:
        """By the registry's list: ``2.2`` is a range for npm, and means 2.2.x."""
        if wanted == program.version:
            return wanted
        asked = ("npm", "view", f"{program.package}@{wanted}", "version")
        try:
            answer = said(asked, doing=f"find {program.library} {wanted}", env=ENVIRONMENT, why=_why)
        except UserError as error:
            if NOT_FOUND not in str(error):
                raise
            raise unknown_version(program, wanted) from error
        found = json.loads(answer or "[]")  # an older npm says nothing where it finds nothing
        if not found:
            raise unknown_version(program, wanted)
        return found if isinstance(found, str) else max(found, key=_order)

    def install(self, program: Program, version: str, folder: Path) -> None:
        copy_sources(program, folder)
        exact = ("npm", "install", "--save-exact", f"{program.package}@{version}")
        command = ("npm", "ci") if version == program.version else exact
        said(command, doing=f"install {program.library} {version}", cwd=folder, env=ENVIRONMENT, why=_why)

    def command(self, program: Program, folder: Path) -> Sequence[str]:
        return ["node", str(folder / f"{Path(program.source).name}_program.js")]


def _why(ran: "subprocess.CompletedProcess[str]") -> str:
    """npm's code and summary; of a package's script that failed, the first error in what it wrote too."""
    try:
        error = json.loads(ran.stdout)["error"]
    except (ValueError, KeyError):
        return last_words(ran)
    of_script = [line.partition("Error: ")[2] for line in error["detail"].splitlines() if "Error: " in line]
    return ": ".join([f"npm says {error['code']}", *error["summary"].splitlines()[:1], *of_script[:1]])


def _order(version: str) -> tuple[int, ...]:
    """Of releases alone, which is what npm finds for a range."""
    return tuple(int(part) if part.isdigit() else -1 for part in version.split("."))


NPM_TOOLCHAIN = Npm()

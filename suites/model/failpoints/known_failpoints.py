"""The contract's failpoints, each rule text once, with the requirements that it refutes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from harness.contract.catalogue.requirement_catalogue import find
from harness.contract.refuters import Failpoint

OF_TOOLS = (
    "org.apache.kafka.tools.",
    "org.apache.kafka.clients.admin.",
    "org.apache.kafka.common.utils.Exit",
    "net.sourceforge.argparse4j.",
)
"""What the beginning of a class says that a command line tool runs and no broker does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFailpoint:
    """Byteman rules that some requirement names.

    :param version: Of Kafka. :param refutes: Ids of requirements with the anomaly that each must find.
    """

    rules: str
    version: str
    refutes: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """The same as long as the rules are."""
        return sha256(f"{self.version}\n{self.rules}".encode()).hexdigest()[:12]

    @property
    def names(self) -> Sequence[str]:
        """Of its rules, in words."""
        return [*_after("RULE", self.rules)]

    @property
    def places(self) -> Sequence[str]:
        """Class and method of each rule."""
        classes = [each.rpartition(".")[2] for each in self.classes]
        methods = [each.partition("(")[0] for each in _after("METHOD", self.rules)]
        return [f"{one}.{method}" for one, method in zip(classes, methods, strict=True)]

    @property
    def classes(self) -> Sequence[str]:
        """Of each rule, with the package."""
        return [*_after(("CLASS", "INTERFACE"), self.rules)]

    @property
    def of_a_tool(self) -> bool:
        """Whether no broker runs any of its classes."""
        return all(each.lstrip("^").startswith(OF_TOOLS) for each in self.classes)


def known_failpoints(folder: Path) -> Sequence[KnownFailpoint]:
    """Of all requirements under a folder, in the order of their first requirement's id."""
    refuted: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for entry in find(folder):
        for one in entry.requirement.refuted_by:
            if isinstance(one, Failpoint):
                refuted[one.version, one.rules].append((entry.requirement.id, one.anomaly))
    return [
        KnownFailpoint(rules=rules, version=version, refutes=tuple(whom)) for (version, rules), whom in refuted.items()
    ]


def _after(keywords: str | tuple[str, ...], rules: str) -> Iterator[str]:
    wanted = (keywords,) if isinstance(keywords, str) else keywords
    for line in rules.splitlines():
        keyword, _, rest = line.strip().partition(" ")
        if keyword in wanted:
            yield rest.strip()

"""The catalogue of promises, and how much of it is asked: requirements counted against all that the KIPs promise.

``promises.toml`` has the number of promises in each group and says which a client keeps; ``NOT_ASKED.md`` has a line
for each that cannot be asked, with the reason. Both lie beside the requirements.
"""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

PROMISES, NOT_ASKED = "promises.toml", "NOT_ASKED.md"
ROW = re.compile(r"^\| (KIP\d+-[A-Z]+-\d+) \| (.+) \|$", re.MULTILINE)
ID = re.compile(r"KIP\d+-[A-Z]+-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """Ids, each set in the catalogue's order.

    :param of_brokers: What a broker keeps or breaks.
    :param of_clients: What a client keeps, whatever the broker.
    :param not_asked: What cannot be asked: the reason by id.
    """

    of_brokers: tuple[str, ...]
    of_clients: tuple[str, ...]
    not_asked: Mapping[str, str]

    def asked(self, requirements: Collection[str]) -> tuple[str, ...]:
        """Those that a requirement asks; an id with a word behind it (``…-SPARK``) asks the same in another way."""
        stated = {found[0] for id_ in requirements if (found := ID.match(id_))}
        return tuple(id_ for id_ in (*self.of_brokers, *self.of_clients) if id_ in stated)

    def beyond(self, requirements: Collection[str]) -> tuple[str, ...]:
        """Requirements whose ids the catalogue does not have: this suite's own, counted among no promises of it."""
        stated = {*self.of_brokers, *self.of_clients}
        return tuple(id_ for id_ in requirements if (found := ID.match(id_)) is None or found[0] not in stated)

    def missing(self, requirements: Collection[str]) -> tuple[str, ...]:
        """Those that no requirement asks, and no line says why."""
        asked, every = self.asked(requirements), (*self.of_brokers, *self.of_clients)
        return tuple(id_ for id_ in every if id_ not in asked and id_ not in self.not_asked)


def read_promises(folder: Path, *others: Path) -> Promises:
    """The catalogue in the requirements' folder; :raises OSError, ValueError, KeyError: when it is malformed.

    :param others: Folders of requirements that may say, too, what cannot be asked.
    """
    stated = tomllib.loads((folder / PROMISES).read_text(encoding="utf-8"))
    of_clients = {id_ for group, numbers in stated["clients"].items() for id_ in _ids(stated["groups"], group, numbers)}
    every = [id_ for group in stated["groups"] for id_ in _ids(stated["groups"], group, "all")]
    return Promises(
        of_brokers=tuple(id_ for id_ in every if id_ not in of_clients),
        of_clients=tuple(id_ for id_ in every if id_ in of_clients),
        not_asked={id_: reason for each in (folder, *others) for id_, reason in _not_asked(each / NOT_ASKED)},
    )


def _not_asked(page: Path) -> list[tuple[str, str]]:
    return ROW.findall(page.read_text(encoding="utf-8")) if page.exists() else []


def _ids(groups: Mapping[str, int], group: str, numbers: str | list[int]) -> list[str]:
    chosen = range(1, groups[group] + 1) if numbers == "all" else map(int, numbers)
    return [f"{group}-{number:02}" for number in chosen]

"""The mark of a seal: which Parquet files a sealed history consists of, with checksums, and what was dropped."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.atomic_write import write_whole
from harness.evidence.json_codec import from_json, to_json

NAME = "seal.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealManifest:
    """What a seal made.

    :param tables: Table to its files by name, each with its CRC-32.
    :param notes: What limits the evidence, one sentence each.
    """

    tables: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, history: Path, tables: Sequence[str], notes: Sequence[str]) -> "SealManifest":
        """The mark of Parquet tables that are on disk."""
        return cls(tables={table: checksums(history / f"{table}.parquet") for table in tables}, notes=tuple(notes))

    @classmethod
    def read(cls, history: Path) -> "SealManifest | None":
        """The mark that stands there; None without one.

        :raises Malformed: When it cannot be read.
        """
        path = history / NAME
        if not path.is_file():
            return None
        return from_json(cls, path.read_bytes())

    def write(self, history: Path) -> None:
        """Put it beside the tables, whole or not at all."""
        write_whole(history / NAME, to_json(self))

    def broken(self, history: Path) -> str | None:
        """What of the sealed files is gone or changed, in words; None when all are as they were."""
        for table, files in self.tables.items():
            found = checksums(history / f"{table}.parquet")
            for name in sorted(files.keys() | found.keys()):
                if files.get(name) != found.get(name):
                    return f"{table}.parquet/{name} is {_fate(name in files, name in found)} since the seal"
        return None


def checksums(table: Path) -> Mapping[str, int]:
    """The CRC-32 of every Parquet file of a table, by name; none where the table is not there."""
    return {path.name: _checksum(path) for path in parquet_files(table)}


def parquet_files(table: Path) -> Sequence[Path]:
    """The files of a Parquet table: a folder's, or the file itself. Spark's own bookkeeping is left out."""
    if table.is_file():
        return (table,)
    return sorted(path for path in table.rglob("*.parquet") if not path.name.startswith((".", "_")))


def whole(path: Path) -> bool:
    """Whether a Parquet file begins and ends as one does: a cut one has lost its footer."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < 12:
            return False
        stream.seek(size - 8)
        footer, end = int.from_bytes(stream.read(4), "little"), stream.read(4)
        stream.seek(0)
        return stream.read(4) == end == b"PAR1" and footer <= size - 12


def _checksum(path: Path) -> int:
    with path.open("rb") as stream:
        crc = 0
        while block := stream.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def _fate(was: bool, there: bool) -> str:
    return "gone" if not there else "changed" if was else "new"

"""The manifest of a seal: which Parquet files a sealed history consists of, with checksums, and what was dropped."""

import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.evidence.json_codec import from_json, to_json

NAME = "seal.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealManifest:
    """The Parquet files of a sealed history; ``seal.json`` beside them.

    :param tables: Table to its files by name, each with its CRC-32.
    :param notes: What limits the evidence, one sentence each.
    """

    tables: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, history: Path, tables: Sequence[str], notes: Sequence[str]) -> "SealManifest":
        """The manifest of Parquet tables that are on disk."""
        return cls(tables={table: checksums(history / f"{table}.parquet") for table in tables}, notes=tuple(notes))

    @classmethod
    def read(cls, history: Path) -> "SealManifest | None":
        """The manifest of a history; None where there is none.

        :raises Malformed: When it is not what this version writes.
        """
        path = history / NAME
        if not path.is_file():
            return None
        return from_json(cls, path.read_bytes())

    def write(self, history: Path) -> None:
        """Write it beside the tables, whole or not at all."""
        write_atomically(history / NAME, to_json(self))

    def broken(self, history: Path) -> str | None:
        """Which sealed file is gone, new or changed, in words; None when all are as they were."""
        for table, files in self.tables.items():
            found = checksums(history / f"{table}.parquet")
            for name in sorted(files.keys() | found.keys()):
                if files.get(name) != found.get(name):
                    return f"{table}.parquet/{name} is {_change(name in files, name in found)} since the seal"
        return None


def checksums(table: Path) -> Mapping[str, int]:
    """The CRC-32 of every Parquet file of a table, by name; empty where there is no such table."""
    files = parquet_files(table)
    with ThreadPoolExecutor() as threads:  # zlib lets other threads run meanwhile
        return dict(zip((path.name for path in files), threads.map(_checksum, files), strict=True))


def parquet_files(table: Path) -> Sequence[Path]:
    """The files of a Parquet table, which is a folder or one file. Spark's own files beside them are left out."""
    if table.is_file():
        return (table,)
    return sorted(path for path in table.rglob("*.parquet") if not path.name.startswith((".", "_")))


def is_complete_parquet(path: Path) -> bool:
    """Whether a Parquet file has its magic number at both ends and room for its footer; a truncated one has not."""
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


def _change(sealed: bool, found: bool) -> str:
    return "gone" if not found else "changed" if sealed else "new"

"""Copies files into a container and out of it, as the tar archives that the engine takes and gives."""

import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.cluster.docker.engine import NotFound


def put_files(container: Any, files: Mapping[str, bytes | Path], folders: tuple[str, ...] = ()) -> None:
    """Put files, by their absolute paths, into a container; our user owns them and the folders."""
    container.put_archive("/", tar_of(files, folders))


def tar_of(files: Mapping[str, bytes | Path], folders: tuple[str, ...] = ()) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for folder in folders:
            tar.addfile(_member(folder, 0o755, tarfile.DIRTYPE))
        for path, content in files.items():
            content = content.read_bytes() if isinstance(content, Path) else content
            member = _member(path, 0o644)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


def get_files(container: Any, path: str) -> Mapping[str, bytes]:
    """A file, or all files of a folder, by their names; :raises LookupError: when there is no such path."""
    with _archive(container, path) as tar:
        found = {Path(member.name).name: tar.extractfile(member) for member in tar.getmembers() if member.isfile()}
        return {file: content.read() for file, content in found.items() if content}


def list_files(container: Any, folder: str) -> list[str]:
    """Names of the files in a folder, sorted; :raises LookupError: when there is no such folder."""
    with _archive(container, folder) as tar:
        return sorted(Path(member.name).name for member in tar.getmembers() if not member.isdir())


def _archive(container: Any, path: str) -> tarfile.TarFile:
    try:
        stream, _ = container.get_archive(path)
    except NotFound as error:
        raise LookupError(f"there is no {path}") from error
    return tarfile.open(fileobj=io.BytesIO(b"".join(stream)))


def _member(path: str, mode: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path.lstrip("/"))
    member.mode, member.type = mode, kind
    member.uid, member.gid = os.getuid(), os.getgid()
    return member

"""Files on their way into a container and out of it; the engine takes and gives them as tar archives."""

import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.cluster.docker.engine import NotFound


def put(container: Any, files: Mapping[str, bytes | Path], folders: tuple[str, ...] = ()) -> None:
    """Put files, by their absolute paths, into a container that was created; they and the folders are our user's."""
    container.put_archive("/", packed(files, folders))


def packed(files: Mapping[str, bytes | Path], folders: tuple[str, ...] = ()) -> bytes:
    """The files as a tar archive."""
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


def get(container: Any, path: str) -> Mapping[str, bytes]:
    """A file, or all files of a folder, by their names.

    :raises LookupError: When there is no such path.
    """
    try:
        stream, _ = container.get_archive(path)
    except NotFound as error:
        raise LookupError(f"there is no {path}") from error
    with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as tar:
        found = {Path(member.name).name: tar.extractfile(member) for member in tar.getmembers() if member.isfile()}
        return {file: content.read() for file, content in found.items() if content}


def names(container: Any, folder: str) -> list[str]:
    """Names of the files in a folder, sorted.

    :raises LookupError: When there is no such folder.
    """
    try:
        stream, _ = container.get_archive(folder)
    except NotFound as error:
        raise LookupError(f"there is no {folder}") from error
    with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as tar:
        return sorted(Path(member.name).name for member in tar.getmembers() if not member.isdir())


def _member(path: str, mode: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path.lstrip("/"))
    member.mode, member.type = mode, kind
    member.uid, member.gid = os.getuid(), os.getgid()
    return member

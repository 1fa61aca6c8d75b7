"""The jars of a Kafka: of a released version, or of a tarball or folder of a release candidate."""

import gzip
import hashlib
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.cluster.target import Distribution, Released
from harness.machine import download_cache
from harness.machine.maven import Artifact, copy_jars

KAFKA = "org.apache.kafka"
# The released POMs depend on SLF4J's API and on no binding that writes logs, so we add one (all of them have API
# 1.7.36, so on 4.x it is log4j-slf4j-impl, as in the official tarball, and not the one for API 2).
BINDING_3 = Artifact(group="org.slf4j", name="slf4j-reload4j", version="1.7.36")
BINDING_4 = Artifact(group="org.apache.logging.log4j", name="log4j-slf4j-impl", version="2.25.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaFiles:
    """A Kafka on disk.

    :param version: By the names of its jars.
    :param libs: The folder of its jars.
    :param origin: One phrase for the report: ``from Maven``, ``from /tmp/kafka_2.13-4.4.0.tgz``.
    """

    version: str
    libs: Path
    origin: str

    def jars(self) -> tuple[Path, ...]:
        """Every jar, sorted: an AppCDS archive fits only the class path that it was made with, order included."""
        return tuple(sorted(self.libs.glob("*.jar")))

    def fingerprint(self) -> str:
        return download_cache.jars_fingerprint(self.jars())


def released(target: Released, progress: Callable[[str], None]) -> KafkaFiles:
    """A released version's jars, brought in once by Maven.

    :raises UserError: When the version is unknown, or Maven is missing.
    """
    entry = download_cache.cache_root() / "kafka" / target.version
    if not entry.is_dir():
        progress(f"bringing in Kafka {target.version} by Maven (once; some 50 MB)")
    download_cache.create_once(entry, lambda draft: _from_maven(target.version, draft / "libs"))
    return KafkaFiles(version=target.version, libs=entry / "libs", origin="from Maven")


def _from_maven(version: str, libs: Path) -> None:
    libs.mkdir()
    kafka = (Artifact(group=KAFKA, name=name, version=version) for name in ("kafka_2.13", "kafka-tools"))
    copy_jars((*kafka, BINDING_3 if version.startswith("3.") else BINDING_4), libs)


def distribution(target: Distribution, progress: Callable[[str], None]) -> KafkaFiles:
    """A tarball's or an unpacked folder's jars; a folder is used where it is.

    :raises UserError: TARGET_UNKNOWN, when there is nothing to read or it is not a Kafka.
    """
    if target.path.is_dir():
        return _in_folder(target.path, target)
    if not target.path.is_file():
        raise _wrong(target, "there is no such file or folder")
    try:
        return _unpacked(target, progress)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, PermissionError) as error:
        raise _wrong(target, f"it is not a readable .tgz ({str(error).splitlines()[0]})") from error


def _unpacked(target: Distribution, progress: Callable[[str], None]) -> KafkaFiles:
    with target.path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    entry = download_cache.cache_root() / "dist" / digest[:16]
    if not entry.is_dir():
        progress(f"unpacking {target.path.name}")
    download_cache.create_once(entry, lambda draft: _unpack(target, draft))
    return _in_folder(entry, target)


def _unpack(target: Distribution, draft: Path) -> None:
    with tarfile.open(target.path) as tarball:
        tarball.extractall(draft, filter="data")
    _in_folder(draft, target)  # a wrong tarball must not stay in the cache


def _in_folder(folder: Path, target: Distribution) -> KafkaFiles:
    for libs in (folder / "libs", *sorted(folder.glob("*/libs"))):
        if version := version_of(jar.name for jar in libs.glob("kafka_2.1*.jar")):
            return KafkaFiles(version=version, libs=libs, origin=f"from {target.path}")
    raise _wrong(target, "it has no libs/kafka_2.13-<version>.jar, so it is not a Kafka distribution")


def version_of(jars: Iterable[str]) -> str | None:
    """Kafka's version by its server's jar among these file names; None where there is none.

    Its siblings (``-sources``, ``-javadoc``) in an official tarball do not count.
    """
    names = (re.fullmatch(r"kafka_2\.1\d-(\d[\w.]*(?:-\w+)?)\.jar", jar) for jar in sorted(jars))
    versions = (found[1] for found in names if found)
    return next((v for v in versions if not v.endswith(("-sources", "-javadoc", "-scaladoc", "-test"))), None)


def _wrong(target: Distribution, why: str) -> UserError:
    sentence = f"{target.path} cannot be tried: {why}; give the .tgz that the Kafka project publishes, or it unpacked"
    return UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)

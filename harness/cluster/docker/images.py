"""Images: the one that holds the judged Kafka, and Toxiproxy's. Pulled where they can be, else built here.

A registry that does not answer is left after a few seconds, and its words are told; what was built once is found again
by its name and asks nobody.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.cluster import distribution, toxiproxy
from harness.cluster.distribution import KafkaFiles
from harness.cluster.docker.engine import APIError, Engine, ImageNotFound, NotFound, RequestException, refused
from harness.cluster.nodes.properties import COMPOSE
from harness.cluster.target import KAFKA_HOME, Distribution, External, Image, Released, Target
from harness.trouble import Exit, Trouble

SILENCE = 10.0  # seconds that a pull may show no progress
BASE = "fencepost/java"
BASES = (BASE, "eclipse-temurin:17-jre")
TOXIPROXY = (f"fencepost/toxiproxy:{toxiproxy.VERSION}", f"ghcr.io/shopify/toxiproxy:{toxiproxy.VERSION[1:]}")
SCRIPT = COMPOSE / "base-image.sh"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An image of the engine.

    :param reference: Its name.
    :param id: ``sha256:…`` of its configuration, the same wherever it is.
    :param digest: ``name@sha256:…`` where it was pulled, else the id.
    :param home: Where in it Kafka is.
    """

    reference: str
    id: str
    digest: str
    home: str = KAFKA_HOME


def kafka(engine: Engine, target: Target, progress: Progress) -> Source:
    """The image of the target.

    :raises Trouble: TARGET_UNKNOWN when there is none; TOOL_MISSING when one cannot be built.
    """
    match target:
        case Image(reference=reference, home=home):
            return _given(engine, reference, home, progress)
        case Released(version=version):
            return _released(engine, target, (f"fencepost/kafka:{version}", f"apache/kafka:{version}"), progress)
        case Distribution():
            files = distribution.distribution(target, progress)
            return _built_from(engine, files, f"fencepost/dist:{files.fingerprint()}", progress)
        case External():
            raise Trouble(f"{target} runs already; open it by the external backend", exit=Exit.USAGE)


def lack(engine: Engine, target: Target) -> str | None:
    """Why an image of the target is neither here nor can be had, or None; asks before anything is made."""
    if not isinstance(target, Released):
        return None
    names = (f"fencepost/kafka:{target.version}", f"apache/kafka:{target.version}")
    if any(local(engine, name) for name in (*names, *BASES)) or _can_make_base() or _can_pull(engine, names[1]):
        return None
    return f"{names[1]} can neither be pulled nor built here (no base image, and none can be made)"


def toxiproxy_image(engine: Engine, progress: Progress) -> Source:
    """Toxiproxy's image.

    :raises Trouble: TOOL_MISSING, when it can neither be pulled nor built.
    """
    ours, official = TOXIPROXY
    found = local(engine, ours) or local(engine, official)
    if found:
        return found
    if refusal := pull(engine, official, progress):
        progress(f"{official} cannot be pulled ({refusal}); building {ours}")
        program = toxiproxy.built(progress)
        return build(engine, ours, Recipe(dockerfile="toxiproxy.Dockerfile", context=program.parent))
    return _certain(engine, official)


def local(engine: Engine, reference: str, home: str = KAFKA_HOME) -> Source | None:
    """The image, if the engine has it."""
    try:
        found = engine.sdk.images.get(reference)
    except ImageNotFound:
        return None
    digests = found.attrs.get("RepoDigests") or [found.id]
    return Source(reference=reference, id=found.id, digest=digests[0], home=home)


def pull(engine: Engine, reference: str, progress: Progress) -> str | None:
    """Pull an image; why it cannot be pulled, or None."""
    progress(f"pulling {reference}")
    name, _, tag = reference.partition("@") if "@" in reference else reference.rpartition(":")
    repository, version = (name, tag) if name and "/" not in tag else (reference, "latest")
    try:
        for event in engine.patient(SILENCE).sdk.api.pull(repository, tag=version, stream=True, decode=True):
            if "error" in event:
                return _first_line(str(event["error"]))
    except (APIError, NotFound) as error:
        return _first_line(str(error.explanation or error))
    except RequestException:
        return f"no answer within {SILENCE:g} s"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How an image is built: a file of ``compose/``, the folder that it copies from, its arguments and labels."""

    dockerfile: str
    context: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


def build(engine: Engine, tag: str, recipe: Recipe) -> Source:
    """Build an image."""
    with refused():
        engine.wrapped.build(
            path=str(recipe.context),
            tag=tag,
            dockerfile=str(COMPOSE / recipe.dockerfile),
            buildargs=dict(recipe.arguments),
            labels=dict(recipe.labels),
            forcerm=True,
        )
    return _certain(engine, tag)


def _given(engine: Engine, reference: str, home: str, progress: Progress) -> Source:
    if found := local(engine, reference, home):
        return found
    if refusal := pull(engine, reference, progress):
        sentence = f"there is no image {reference} on the engine, and it cannot be pulled ({refusal}); check its name"
        raise Trouble(sentence, exit=Exit.TARGET_UNKNOWN)
    return _certain(engine, reference, home)


def _released(engine: Engine, target: Released, names: tuple[str, str], progress: Progress) -> Source:
    ours, official = names
    found = local(engine, official) or local(engine, ours)
    if found:
        return found
    if refusal := pull(engine, official, progress):
        progress(f"{official} cannot be pulled ({refusal}); building {ours} from Kafka's jars")
        return _built_from(engine, distribution.released(target, progress), ours, progress)
    return _certain(engine, official)


def _built_from(engine: Engine, files: KafkaFiles, tag: str, progress: Progress) -> Source:
    if found := local(engine, tag):
        return found
    base = _base(engine, progress)
    progress(f"building {tag} from {len(files.jars())} jars on {base.reference}")
    return build(
        engine, tag, Recipe(dockerfile="kafka.Dockerfile", context=files.libs, arguments={"BASE": base.reference})
    )


def _base(engine: Engine, progress: Progress) -> Source:
    """An image with a Java: one of ours, one that can be pulled, or one made from this machine's own packages."""
    for name in BASES:
        if found := local(engine, name):
            return found
    if not (refusal := pull(engine, BASES[1], progress)):
        return _certain(engine, BASES[1])
    progress(f"{BASES[1]} cannot be pulled ({refusal}); making {BASE} from Debian packages (once; about a minute)")
    said = subprocess.run([SCRIPT, BASE], capture_output=True, text=True, check=False, start_new_session=True)
    if said.returncode:
        last = (said.stderr.strip().splitlines() or said.stdout.strip().splitlines() or ["it said nothing"])[-1]
        raise Trouble(f"no base image for Kafka could be made: {last}", exit=Exit.TOOL_MISSING)
    return _certain(engine, BASE)


def _can_make_base() -> bool:
    return os.getuid() == 0 and shutil.which("debootstrap") is not None


def _can_pull(engine: Engine, reference: str) -> bool:
    try:
        engine.patient(SILENCE).sdk.images.get_registry_data(reference)
    except (APIError, RequestException):
        return False
    return True


def _certain(engine: Engine, reference: str, home: str = KAFKA_HOME) -> Source:
    found = local(engine, reference, home)
    assert found is not None, f"{reference} was made and is not there"
    return found


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"

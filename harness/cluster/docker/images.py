"""Images: the one that holds the judged Kafka, and Toxiproxy's. Pulled where they can be, else built here.

A registry that does not answer is left after a few seconds, and its words are told; what was built once is found again
by its name and asks nobody.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.cluster import distribution, toxiproxy
from harness.cluster.distribution import KafkaFiles
from harness.cluster.docker.engine import (
    APIError,
    Engine,
    ImageNotFound,
    NotFound,
    RequestException,
    no_room,
    reach,
    refused,
    tells_of_full_disk,
)
from harness.cluster.nodes.node_properties import COMPOSE
from harness.cluster.target import KAFKA_HOME, Distribution, External, Image, Released, Target

SILENCE = 10.0  # seconds that a pull may show no progress
BASE = "fencepost/java"
BASES = (BASE, "eclipse-temurin:17-jre")
TOXIPROXY = (f"fencepost/toxiproxy:{toxiproxy.VERSION}", f"ghcr.io/shopify/toxiproxy:{toxiproxy.VERSION[1:]}")
SCRIPT = COMPOSE / "base-image.sh"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSource:
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


def kafka(engine: Engine, target: Target, progress: Progress) -> ImageSource:
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
            raise UserError(f"{target} runs already; open it by the external backend", exit=ExitCode.USAGE)


def lack(engine: Engine, target: Target) -> str | None:
    """Which image is neither here nor can be had, in a phrase, or None; asks before anything is made."""
    official = f"apache/kafka:{target.version}" if isinstance(target, Released) else None
    ours = f"fencepost/kafka:{target.version}" if isinstance(target, Released) else None
    base = any(local(engine, name) for name in BASES) or _can_make_base()
    if not base and not _at_hand(engine, filter(None, (official, ours, BASES[1]))):
        return f"no image of {target} can be pulled or built"
    if shutil.which("go") or _at_hand(engine, TOXIPROXY):
        return None
    return "no image of Toxiproxy can be pulled or built"


def toxiproxy_image(engine: Engine, progress: Progress) -> ImageSource:
    """Toxiproxy's image.

    :raises Trouble: TOOL_MISSING, when it can neither be pulled nor built.
    """
    ours, official = TOXIPROXY
    found = local(engine, ours) or local(engine, official)
    if found:
        return found
    if refusal := pull(official, progress):
        progress(f"{official} cannot be pulled ({refusal}); building {ours}")
        program = toxiproxy.built(progress)
        return build(engine, ours, Recipe(dockerfile="toxiproxy.Dockerfile", context=program.parent))
    return _certain(engine, official)


def local(engine: Engine, reference: str, home: str = KAFKA_HOME) -> ImageSource | None:
    """The image, if the engine has it."""
    try:
        found = engine.sdk.images.get(reference)
    except ImageNotFound:
        return None
    digests = found.attrs.get("RepoDigests") or [found.id]
    return ImageSource(reference=reference, id=found.id, digest=digests[0], home=home)


def pull(reference: str, progress: Progress) -> str | None:
    """Pull an image; why it cannot be pulled, or None.

    :raises Trouble: NO_ROOM.
    """
    progress(f"pulling {reference}")
    refusal = _pull(reference)
    if refusal and tells_of_full_disk(refusal):
        raise no_room()
    return refusal


def _pull(reference: str) -> str | None:
    name, _, tag = reference.partition("@") if "@" in reference else reference.rpartition(":")
    repository, version = (name, tag) if name and "/" not in tag else (reference, "latest")
    try:
        with closing(reach(SILENCE)) as impatient:
            for event in impatient.sdk.api.pull(repository, tag=version, stream=True, decode=True):
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


def build(engine: Engine, tag: str, recipe: Recipe) -> ImageSource:
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


def _given(engine: Engine, reference: str, home: str, progress: Progress) -> ImageSource:
    if found := local(engine, reference, home):
        return found
    if refusal := pull(reference, progress):
        sentence = f"there is no image {reference} on the engine, and it cannot be pulled ({refusal}); check its name"
        raise UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)
    return _certain(engine, reference, home)


def _released(engine: Engine, target: Released, names: tuple[str, str], progress: Progress) -> ImageSource:
    ours, official = names
    found = local(engine, official) or local(engine, ours)
    if found:
        return found
    if refusal := pull(official, progress):
        progress(f"{official} cannot be pulled ({refusal}); building {ours} from Kafka's jars")
        return _built_from(engine, distribution.released(target, progress), ours, progress)
    return _certain(engine, official)


def _built_from(engine: Engine, files: KafkaFiles, tag: str, progress: Progress) -> ImageSource:
    if found := local(engine, tag):
        return found
    base = _base(engine, progress)
    progress(f"building {tag} from {len(files.jars())} jars on {base.reference}")
    return build(
        engine, tag, Recipe(dockerfile="kafka.Dockerfile", context=files.libs, arguments={"BASE": base.reference})
    )


def _base(engine: Engine, progress: Progress) -> ImageSource:
    """An image with a Java: one of ours, one that can be pulled, or one made from this machine's own packages."""
    for name in BASES:
        if found := local(engine, name):
            return found
    if not (refusal := pull(BASES[1], progress)):
        return _certain(engine, BASES[1])
    progress(f"{BASES[1]} cannot be pulled ({refusal}); making {BASE} from Debian packages (once; about a minute)")
    said = subprocess.run([SCRIPT, BASE], capture_output=True, text=True, check=False, start_new_session=True)
    if said.returncode:
        if tells_of_full_disk(said.stderr + said.stdout):
            raise no_room()
        last = (said.stderr.strip().splitlines() or said.stdout.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"no base image for Kafka could be made: {last}", exit=ExitCode.TOOL_MISSING)
    return _certain(engine, BASE)


def _can_make_base() -> bool:
    return os.getuid() == 0 and shutil.which("debootstrap") is not None


def _at_hand(engine: Engine, references: Iterable[str]) -> bool:
    """Whether one of the images is on the engine, or its registry knows one."""
    names = tuple(references)
    return any(local(engine, name) for name in names) or any(_can_pull(name) for name in names)


def _can_pull(reference: str) -> bool:
    if reference.startswith("fencepost/"):
        return False
    try:
        with closing(reach(SILENCE)) as impatient:
            impatient.sdk.images.get_registry_data(reference)
    except (APIError, RequestException):
        return False
    return True


def _certain(engine: Engine, reference: str, home: str = KAFKA_HOME) -> ImageSource:
    found = local(engine, reference, home)
    assert found is not None, f"{reference} was made and is not there"
    return found


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"

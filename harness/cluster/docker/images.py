"""Images: the one that holds the judged Kafka, and Toxiproxy's. Pulled where they can be, else built here.

A registry that does not answer is given up after a few seconds, with its error; an image that was built once is found
again by its name.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.paths import COMPOSE
from harness.base.user_error import ExitCode, UserError
from harness.cluster import distribution, toxiproxy
from harness.cluster.backend import Progress
from harness.cluster.distribution import KafkaFiles
from harness.cluster.docker.engine import (
    APIError,
    Engine,
    ImageNotFound,
    NotFound,
    RequestException,
    disk_full_on_engine,
    engine_errors,
    mentions_full_disk,
    reach,
)
from harness.cluster.target import KAFKA_HOME, Distribution, External, Image, Released, Target

NO_PROGRESS_SECONDS = 10.0  # after which a pull is given up
BASE = "fencepost/java"
BASES = (BASE, "eclipse-temurin:17-jre")
TOXIPROXY = (f"fencepost/toxiproxy:{toxiproxy.VERSION}", f"ghcr.io/shopify/toxiproxy:{toxiproxy.VERSION[1:]}")
SCRIPT = COMPOSE / "base-image.sh"


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


def kafka_image(engine: Engine, target: Target, progress: Progress) -> ImageSource:
    """The image of the target.

    :raises UserError: TARGET_UNKNOWN when there is none; TOOL_MISSING when one cannot be built.
    """
    match target:
        case Image(reference=reference, home=home):
            return _named_image(engine, reference, home, progress)
        case Released(version=version):
            return _release_image(engine, target, (f"fencepost/kafka:{version}", f"apache/kafka:{version}"), progress)
        case Distribution():
            files = distribution.distribution(target, progress)
            return _image_of(engine, files, f"fencepost/dist:{files.fingerprint()}", progress)
        case External():
            raise UserError(f"{target} runs already; open it by the external backend", exit=ExitCode.USAGE)


def unavailable(target: Target) -> str | None:
    """Why the target cannot be opened in containers, in a phrase, or None; nothing is pulled, built or started."""
    try:
        with engine_errors(), closing(reach()) as engine:
            return missing_image(engine, target)
    except UserError as error:
        return str(error).partition(";")[0]


def missing_image(engine: Engine, target: Target) -> str | None:
    """Which image is not on the engine and can be neither pulled nor built, in a phrase, or None."""
    official = f"apache/kafka:{target.version}" if isinstance(target, Released) else None
    ours = f"fencepost/kafka:{target.version}" if isinstance(target, Released) else None
    base = any(local_image(engine, name) for name in BASES) or _can_make_base()
    if not base and not _can_have(engine, filter(None, (official, ours, BASES[1]))):
        return f"no image of {target} can be pulled or built"
    if shutil.which("go") or _can_have(engine, TOXIPROXY):
        return None
    return "no image of Toxiproxy can be pulled or built"


def toxiproxy_image(engine: Engine, progress: Progress) -> ImageSource:
    """Toxiproxy's image; :raises UserError: TOOL_MISSING, when it can neither be pulled nor built."""
    ours, official = TOXIPROXY
    found = local_image(engine, ours) or local_image(engine, official)
    if found:
        return found
    if refusal := pull_image(official, progress):
        progress(f"{official} cannot be pulled ({refusal}); building {ours}")
        program = toxiproxy.built(progress)
        return build_image(engine, ours, Recipe(dockerfile="toxiproxy.Dockerfile", context=program.parent))
    return _built_or_pulled(engine, official)


def local_image(engine: Engine, reference: str, home: str = KAFKA_HOME) -> ImageSource | None:
    """The image, if it is on the engine."""
    try:
        found = engine.sdk.images.get(reference)
    except ImageNotFound:
        return None
    digests = found.attrs.get("RepoDigests") or [found.id]
    return ImageSource(reference=reference, id=found.id, digest=digests[0], home=home)


def pull_image(reference: str, progress: Progress) -> str | None:
    """Pull an image; why it cannot be pulled, or None; :raises UserError: NO_ROOM."""
    progress(f"pulling {reference}")
    refusal = _pull(reference)
    if refusal and mentions_full_disk(refusal):
        raise disk_full_on_engine()
    return refusal


def _pull(reference: str) -> str | None:
    name, _, tag = reference.partition("@") if "@" in reference else reference.rpartition(":")
    repository, version = (name, tag) if name and "/" not in tag else (reference, "latest")
    try:
        with closing(reach(NO_PROGRESS_SECONDS)) as impatient:
            for event in impatient.sdk.api.pull(repository, tag=version, stream=True, decode=True):
                if "error" in event:
                    return _first_line(str(event["error"]))
    except (APIError, NotFound) as error:
        return _first_line(str(error.explanation or error))
    except RequestException:
        return f"no answer within {NO_PROGRESS_SECONDS:g} s"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How an image is built: a file of ``compose/``, the folder that it copies from, its arguments and labels."""

    dockerfile: str
    context: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


def build_image(engine: Engine, tag: str, recipe: Recipe) -> ImageSource:
    with engine_errors():
        engine.wrapped.build(
            path=str(recipe.context),
            tag=tag,
            dockerfile=str(COMPOSE / recipe.dockerfile),
            buildargs=dict(recipe.arguments),
            labels=dict(recipe.labels),
            forcerm=True,
        )
    return _built_or_pulled(engine, tag)


def _named_image(engine: Engine, reference: str, home: str, progress: Progress) -> ImageSource:
    if found := local_image(engine, reference, home):
        return found
    if refusal := pull_image(reference, progress):
        sentence = f"there is no image {reference} on the engine, and it cannot be pulled ({refusal}); check its name"
        raise UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)
    return _built_or_pulled(engine, reference, home)


def _release_image(engine: Engine, target: Released, names: tuple[str, str], progress: Progress) -> ImageSource:
    ours, official = names
    found = local_image(engine, official) or local_image(engine, ours)
    if found:
        return found
    if refusal := pull_image(official, progress):
        progress(f"{official} cannot be pulled ({refusal}); building {ours} from Kafka's jars")
        return _image_of(engine, distribution.released(target, progress), ours, progress)
    return _built_or_pulled(engine, official)


def _image_of(engine: Engine, files: KafkaFiles, tag: str, progress: Progress) -> ImageSource:
    if found := local_image(engine, tag):
        return found
    base = _base_image(engine, progress)
    progress(f"building {tag} from {len(files.jars())} jars on {base.reference}")
    return build_image(
        engine, tag, Recipe(dockerfile="kafka.Dockerfile", context=files.libs, arguments={"BASE": base.reference})
    )


def _base_image(engine: Engine, progress: Progress) -> ImageSource:
    """An image with a Java: one of ours, one that can be pulled, or one made from this machine's own packages."""
    for name in BASES:
        if found := local_image(engine, name):
            return found
    if not (refusal := pull_image(BASES[1], progress)):
        return _built_or_pulled(engine, BASES[1])
    progress(f"{BASES[1]} cannot be pulled ({refusal}); making {BASE} from Debian packages (once; about a minute)")
    ran = subprocess.run([SCRIPT, BASE], capture_output=True, text=True, check=False, start_new_session=True)
    if ran.returncode:
        if mentions_full_disk(ran.stderr + ran.stdout):
            raise disk_full_on_engine()
        last = (ran.stderr.strip().splitlines() or ran.stdout.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"no base image for Kafka could be made: {last}", exit=ExitCode.TOOL_MISSING)
    return _built_or_pulled(engine, BASE)


def _can_make_base() -> bool:
    return os.getuid() == 0 and shutil.which("debootstrap") is not None


def _can_have(engine: Engine, references: Iterable[str]) -> bool:
    """Whether one of the images is on the engine, or its registry knows one."""
    names = tuple(references)
    return any(local_image(engine, name) for name in names) or any(_can_pull(name) for name in names)


def _can_pull(reference: str) -> bool:
    if reference.startswith("fencepost/"):
        return False
    try:
        with closing(reach(NO_PROGRESS_SECONDS)) as impatient:
            impatient.sdk.images.get_registry_data(reference)
    except (APIError, RequestException):
        return False
    return True


def _built_or_pulled(engine: Engine, reference: str, home: str = KAFKA_HOME) -> ImageSource:
    found = local_image(engine, reference, home)
    assert found is not None, f"{reference} was made and is not there"
    return found


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"

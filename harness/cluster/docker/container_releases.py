"""The images that the nodes of one cluster start from: the target's, and those of other releases for single nodes."""

from dataclasses import dataclass, field
from pathlib import Path

from harness.cluster.backend import Progress
from harness.cluster.docker import images
from harness.cluster.docker.image_start_cache import StartImage, Storage, format_otherwise, make_start_image
from harness.cluster.docker.images import ImageSource
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes.storage import Format
from harness.cluster.target import Released


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeImage:
    """What a node is started from.

    :param storage: Storage that is formatted as wished; empty where what lies in the image is.
    """

    image: StartImage
    storage: Storage


@dataclass(slots=True, kw_only=True)
class ContainerReleases:
    """See the module's docstring; None stands for the target.

    :param source: The target's image.
    :param folder: The run's, for files that go into images.
    :param formatted: How storage is formatted.
    """

    run: OwnedResources
    source: ImageSource
    folder: Path
    logs: Path
    formatted: Format
    progress: Progress
    _made: dict[str | None, NodeImage] = field(default_factory=dict)

    def fetch(self, release: str | None) -> None:
        """Have the image of a release, made where it is missing.

        :raises UserError: When there is no such release, or its tool refuses the format that is wished.
        """
        if release not in self._made:
            self._made[release] = self._make(release)

    def image(self, release: str | None) -> NodeImage:
        """What a node of this release starts from, which was fetched."""
        return self._made[release]

    def _make(self, release: str | None) -> NodeImage:
        source, wish = self.source, self.formatted
        if release is not None:
            source = images.kafka_image(self.run.engine, Released(release), self.progress)
            wish = wish.of_another_release()
        image = make_start_image(self.run, source, self.folder, self.logs, self.progress)
        return NodeImage(image=image, storage=self._storage(image, wish, release or "the-target"))

    def _storage(self, image: StartImage, wish: Format, release: str) -> Storage:
        if not wish.arguments:
            return {}
        folder, log = self.folder / f"formatting-{release}", self.logs / "preparing.log"
        return format_otherwise(self.run, image, wish, folder, log)

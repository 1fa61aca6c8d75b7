"""What becomes of a wish for another cluster: options, settings, formatted storage, and what no backend can make."""

from pathlib import Path

from harness.cluster.cluster import ClusterOptions
from harness.cluster.nodes.storage import BOOTSTRAP, META, Format
from harness.cluster.opening import why_not_made
from harness.cluster.process.process_start_cache import StartCache
from harness.cluster.target import parse_target
from harness.contract import OwnCluster

WISH = OwnCluster(
    properties={"a": "of all", "b": "of all"},
    node_properties={2: {"b": "of node 2"}},
    features={"transaction.version": 0},
    metadata="3.9",
    releases={1: "3.9.2"},
    brokers=2,
)


def test_a_wish_wins_over_the_common_options_and_a_nodes_own_property_over_all() -> None:
    options = ClusterOptions(properties={"a": "common", "c": "common"}).changed(WISH)
    assert options.properties_of(1) == {"a": "of all", "b": "of all", "c": "common"}
    assert options.properties_of(2) == {"a": "of all", "b": "of node 2", "c": "common"}
    assert (options.brokers, options.releases) == (2, {1: "3.9.2"})
    assert options.formatted == Format(features={"transaction.version": 0}, metadata="3.9")


def test_the_format_tool_is_told_the_wish_and_another_release_no_features() -> None:
    wished = Format(features={"transaction.version": 0, "group.version": 1}, metadata="3.9")
    of_release = ("--release-version", "3.9")
    assert wished.arguments == (*of_release, "--feature", "group.version=1", "--feature", "transaction.version=0")
    assert wished.of_another_release().arguments == of_release
    assert Format().arguments == ()


def test_storage_is_copied_from_the_format_that_was_wished(tmp_path: Path) -> None:
    own, wished = tmp_path / "storage", tmp_path / "wished"
    for folder in (own, wished):
        folder.mkdir()
        (folder / META).write_text("cluster.id=x\nnode.id=1\n")
        (folder / BOOTSTRAP).write_text(folder.name)
    for formatted, made in ((None, own), (wished, wished)):
        data = tmp_path / f"data-{made.name}"
        StartCache(folder=tmp_path, formatted=formatted).format(data, cluster_id="c", node=3)
        assert (data / BOOTSTRAP).read_text() == made.name
        assert (data / META).read_text() == "cluster.id=c\nnode.id=3\n"


def test_what_a_backend_cannot_make_is_known_before_anything_starts() -> None:
    target = parse_target("kafka:4.3.1")
    options = ClusterOptions()
    plain = OwnCluster(properties={"a": "b"}, node_properties={1: {"a": "c"}})
    assert why_not_made(target, "docker", options.changed(plain)) is None
    for wish in (OwnCluster(features={"x": 0}), OwnCluster(metadata="3.9"), OwnCluster(releases={1: "3.9.2"})):
        for backend in ("docker", "process"):
            assert why_not_made(target, backend, options.changed(wish)) is None
        assert wish.after_the_target
    assert why_not_made(parse_target("external:a:1"), "auto", options.changed(plain))
    assert not plain.after_the_target

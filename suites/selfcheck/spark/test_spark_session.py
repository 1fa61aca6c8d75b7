"""What a session needs and is started with; no JVM is started."""

from pathlib import Path

import pytest

from harness.base.user_error import ExitCode, UserError
from harness.spark.readers.spark_readers import Readers
from harness.spark.session.class_data_archive import ClassDataArchive
from harness.spark.session.connector_jars import connector_jars, not_shipped, shipped_jars
from harness.spark.session.spark_session import open_session
from harness.spark.session.spark_settings import LARGE_BYTES, Build, settings

JAR = Path("/cache/kafka-clients-3.9.0.jar")


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty PATH and an empty cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("bare_machine")
def test_without_maven_one_sentence_names_the_remedy() -> None:
    with pytest.raises(UserError, match=r"mvn is needed .* install Maven") as error:
        connector_jars()
    assert error.value.exit is ExitCode.TOOL_MISSING


@pytest.mark.usefixtures("bare_machine")
def test_without_java_one_sentence_names_the_remedy() -> None:
    with pytest.raises(UserError, match="java is needed") as error:
        open_session(name="never")
    assert error.value.exit is ExitCode.TOOL_MISSING


def test_what_pyspark_ships_is_not_kept_whatever_its_version() -> None:
    brought = [Path(name) for name in ("slf4j-api-1.7.36.jar", "scala-library-2.13.15.jar", "kafka-clients-3.9.0.jar")]
    assert not_shipped(brought, shipped_jars()) == (Path("kafka-clients-3.9.0.jar"),)


def test_a_local_session_is_on_loopback_and_leaves_nothing_in_the_working_directory(tmp_path: Path) -> None:
    chosen = settings(master="local[2]", name="x", jars=[JAR], scratch=tmp_path)
    assert chosen["spark.driver.extraClassPath"] == str(JAR)
    assert chosen["spark.driver.bindAddress"] == "127.0.0.1"
    assert chosen["spark.sql.warehouse.dir"].startswith(tmp_path.as_uri())


def test_a_cluster_gets_the_jars_and_keeps_its_own_jvm_options(tmp_path: Path) -> None:
    chosen = settings(master="spark://host:7077", name="x", jars=[JAR], scratch=tmp_path)
    assert chosen["spark.jars"] == str(JAR)
    assert not {"spark.driver.extraJavaOptions", "spark.driver.bindAddress"} & chosen.keys()


def test_the_archive_is_written_once_and_used_after(tmp_path: Path) -> None:
    place, draft = tmp_path / "classes.jsa", tmp_path / "classes.1.draft"
    first = ClassDataArchive(place=place, draft=draft)
    assert first.flags("local[2]") == (f"-XX:ArchiveClassesAtExit={draft}",)
    draft.write_bytes(b"classes")
    first.keep()
    first.drop()
    assert (place.read_bytes(), draft.exists()) == (b"classes", False)
    assert f"-XX:SharedArchiveFile={place}" in ClassDataArchive(place=place, draft=None).flags("local[2]")


def test_an_archive_that_no_jvm_could_write_is_no_error(tmp_path: Path) -> None:
    archive = ClassDataArchive(place=tmp_path / "classes.jsa", draft=tmp_path / "classes.1.draft")
    archive.keep()
    archive.drop()
    assert not list(tmp_path.iterdir())


def test_readers_that_never_read_have_nothing_to_end(tmp_path: Path) -> None:
    readers = Readers(folder=tmp_path / "spark")
    readers.close()
    readers.close()
    assert not list(tmp_path.iterdir())


def test_a_large_history_gets_the_heap_and_the_compiler_that_it_needs(tmp_path: Path) -> None:
    few, many = (
        settings(master="local[2]", name="x", jars=[JAR], scratch=tmp_path, build=Build.fit_for(size))
        for size in (LARGE_BYTES - 1, LARGE_BYTES)
    )
    assert (few["spark.driver.memory"], many["spark.driver.memory"]) == ("768m", "4g")
    assert "TieredStopAtLevel" in few["spark.driver.extraJavaOptions"]
    assert "TieredStopAtLevel" not in many["spark.driver.extraJavaOptions"]

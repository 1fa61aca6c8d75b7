"""The two Java agents that powers need, downloaded by Maven at first use."""

from pathlib import Path

from harness.machine import download_cache
from harness.machine.maven import Artifact, copy_jars

JOLOKIA = Artifact(group="org.jolokia", name="jolokia-agent-jvm", version="2.2.9", classifier="javaagent")
BYTEMAN = Artifact(group="org.jboss.byteman", name="byteman", version="4.0.25")


def jar_of(agent: Artifact) -> Path:
    """The agent's jar, which needs no other."""
    folder = download_cache.cache_root() / "agents" / f"{agent.name}-{agent.version}"
    download_cache.create_once(folder, lambda draft: copy_jars([agent], draft, transitive=False))
    return next(folder.glob("*.jar"))


def broken_by(script: Path) -> tuple[str, ...]:
    """JVM options that load a file of Byteman rules from the start."""
    return (f"-javaagent:{jar_of(BYTEMAN)}=script:{script}",)

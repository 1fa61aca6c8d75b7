"""The two Java agents that give powers, brought in by Maven when one is first asked for."""

from pathlib import Path

from harness.machine import download_cache
from harness.machine.maven import Artifact, copy_jars

JOLOKIA = Artifact(group="org.jolokia", name="jolokia-agent-jvm", version="2.2.9", classifier="javaagent")
BYTEMAN = Artifact(group="org.jboss.byteman", name="byteman", version="4.0.25")


def jar_of(agent: Artifact) -> Path:
    """The agent's jar, which holds all that it needs."""
    place = download_cache.cache_root() / "agents" / f"{agent.name}-{agent.version}"
    download_cache.made_once(place, lambda draft: copy_jars([agent], draft, transitive=False))
    return next(place.glob("*.jar"))

"""Tools that must be installed: Java, Maven, Go. A missing one is an error with how to install it."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.base.user_error import ExitCode, UserError

OLDEST_JAVA = 17
REMEDIES = {
    "java": "install Java 17 or newer (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk)",
    "javac": "install a JDK, 17 or newer (Debian: apt install openjdk-17-jdk-headless; macOS: brew install openjdk)",
    "mvn": "install Maven (Debian: apt install maven; macOS: brew install maven)",
    "cargo": "install Rust 1.85 or newer (rustup default stable; macOS: brew install rust)",
    "go": "install Go (Debian: apt install golang; macOS: brew install go), or put toxiproxy-server on the PATH",
    "node": "install Node.js 18 or newer (Debian: apt install nodejs; macOS: brew install node)",
    "npm": "install npm (Debian: apt install npm; macOS: brew install node)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java that is new enough; ``build`` identifies the JVM, because an AppCDS archive fits only one."""

    program: Path
    build: str

    @property
    def version(self) -> str:
        """``17.0.15+6-Debian-1deb12u1``, or the last line of the output of ``java -version``."""
        named = re.search(r'JAVA_RUNTIME_VERSION="([^"]+)"', self.build)
        return named[1] if named else self.build.splitlines()[-1]


def tool(name: str, *, needed_for: str) -> Path:
    """A program on the PATH; :raises UserError: TOOL_MISSING, naming the tool and its remedy."""
    if found := shutil.which(name):
        return Path(found)
    remedy = REMEDIES.get(name, f"install {name}")
    raise UserError(f"{name} is needed {needed_for} and is not on the PATH; {remedy}", exit=ExitCode.TOOL_MISSING)


def java() -> Java:
    """The Java on the PATH; :raises UserError: TOOL_MISSING, when there is none or it is too old."""
    program = tool("java", needed_for="to run Kafka").resolve()
    build = _release_file(program) or _asked(program)
    version = re.search(r'version[ =]+"?(\d+)(?:\.(\d+))?', build, re.IGNORECASE)
    # Until Java 8 versions were written 1.8; since then the first number is the version.
    number = int(version[2] if version[1] == "1" and version[2] else version[1]) if version else 0
    if number < OLDEST_JAVA:
        raise UserError(
            f"the Java on the PATH ({program}) is version {number or 'unknown'}; {REMEDIES['java']}",
            exit=ExitCode.TOOL_MISSING,
        )
    return Java(program=program, build=build)


def _release_file(program: Path) -> str:
    """The text of a JDK's ``release`` file, which names its version without a JVM's start; empty where it has none."""
    release = program.parent.parent / "release"
    text = release.read_text() if release.is_file() else ""
    return f"{program}\n{text}" if "JAVA_VERSION" in text else ""


def _asked(program: Path) -> str:
    """The output of ``java -version``, for a Java behind a wrapper script."""
    ran = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    return f"{program}\n{ran.stderr}"

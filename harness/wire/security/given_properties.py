"""The properties of one file while they are read: each is taken by its key, and every complaint names key and file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.wire.security.security import Secret


@dataclass(frozen=True, slots=True)
class GivenProperties:
    """:param values: By key."""

    path: Path
    values: Mapping[str, str] = field(repr=False)

    def get(self, key: str, default: str = "") -> str:
        """The value without blanks around it."""
        return self.values.get(key, default).strip()

    def secret(self, key: str) -> Secret | None:
        """A password or key, as it stands there; None where it is not given or empty."""
        value = self.values.get(key)
        return Secret(value) if value else None

    def needed(self, key: str, why: str) -> str:
        """The value; :raises UserError: USAGE, when it is missing."""
        value = self.get(key)
        if not value:
            raise self.wrong(key, f"is missing: {why}")
        return value

    def content(self, key: str) -> bytes:
        """The bytes of the file that ``key`` names, relative to the properties' own folder.

        :raises UserError: USAGE, when it cannot be read.
        """
        path = self.path.parent / self.get(key)
        try:
            return path.read_bytes()
        except OSError as error:
            raise self.wrong(key, f"names a file that cannot be read: {path} ({error.strerror})") from error

    def wrong(self, key: str, why: str) -> UserError:
        """The complaint; ``why`` never quotes a value that may be secret."""
        return UserError(f"{key} in {self.path} {why}", exit=ExitCode.USAGE)

"""COMMIT and ABORT, with the names that go with each: what a requirement about both kinds of end has its rows by."""

from enum import Enum

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Marker


class TransactionResult(Enum):
    """Kafka's ``org.apache.kafka.common.requests.TransactionResult``."""

    COMMIT = "COMMIT"
    ABORT = "ABORT"

    @classmethod
    def of(cls, committed: Json) -> "TransactionResult":
        """The result that EndTxn's field ``committed`` asks for."""
        return cls.COMMIT if committed else cls.ABORT

    @property
    def commits(self) -> bool:
        """EndTxn's field ``committed``."""
        return self is TransactionResult.COMMIT

    @property
    def marker(self) -> Marker:
        """The type of the control record."""
        return "COMMIT" if self.commits else "ABORT"

    @property
    def noun(self) -> str:
        """``commit`` or ``abort``, for names and sentences."""
        return self.value.lower()

    @property
    def prepared(self) -> str:
        """The coordinator's state while markers are being written: ``PrepareCommit``."""
        return f"Prepare{self.value.title()}"

    @property
    def completed(self) -> str:
        """The coordinator's state when they are: ``CompleteCommit``."""
        return f"Complete{self.value.title()}"

    @property
    def opposite(self) -> "TransactionResult":
        """The other one."""
        return TransactionResult.ABORT if self.commits else TransactionResult.COMMIT

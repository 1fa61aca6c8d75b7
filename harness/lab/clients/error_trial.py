"""The stimulus of one error case: the error, and then what still works (:mod:`harness.contract.clients.error_case`)."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.contract.clients.error_case import ErrorCase
from harness.evidence.client_evidence import ClientCall
from harness.lab.clients.application import Application
from harness.lab.clients.client_lab import ClientLab
from harness.lab.partition import Group, Partition

OFFSET_APIS = frozenset({"AddOffsetsToTxn", "TxnOffsetCommit"})
"""Sent for offsets of a group alone."""


def try_cases(lab: ClientLab, cases: Sequence[ErrorCase]) -> None:
    """Each case, with one application for as long as it works and the protocol is the same."""
    trials = ErrorTrials(lab, lab.partition("P1"), lab.group())
    application: Application | None = None
    before: ErrorCase | None = None
    for number, case in enumerate(cases, 1):
        if application is None or before is None or before.protocol != case.protocol or case.api == "InitProducerId":
            application = lab.application(f"app{number}", protocol=case.protocol)
            application.init(as_="init")
        application = trials.of(case, application, number)
        before = case


@dataclass(frozen=True, slots=True)
class ErrorTrials:
    """Tries cases one after another, on one partition and with one group."""

    lab: ClientLab
    partition: Partition
    group: Group

    def of(self, case: ErrorCase, app: Application, number: int) -> Application | None:
        """Try it; the application that works afterwards, None where none does."""
        if case.api == "InitProducerId":
            newer = self.lab.application(f"init{number}", same_id=app, protocol=case.protocol)
            if self._failing_init(case, newer).done:
                return newer if self._transaction(case, newer, "first").done else None
            app = newer
        elif self._failing(case, app).done:
            return app
        if self._again(case, app).done:
            return app
        newer = self.lab.application(f"anew{number}", same_id=app, protocol=case.protocol)
        newer.init(as_=case.step("anew init"))
        return newer if self._transaction(case, newer, "anew").done else None

    def _failing_init(self, case: ErrorCase, app: Application) -> ClientCall:
        with app.refused(case.api, case.error, times=case.times):
            return app.init(as_=case.step("init"))

    def _failing(self, case: ErrorCase, app: Application) -> ClientCall:
        """The transaction in which the error comes; its end, and the abort where that failed."""
        with app.refused(case.api, case.error, times=case.times):
            app.begin(as_=case.step("begin"))
            app.produce(self.partition, f"{case.name} a", as_=case.step("produce"))
            if case.api in OFFSET_APIS:
                app.send_offsets(self.group, {self.partition: 1}, as_=case.step("send_offsets"))
            end = app.abort if case.ending == "abort" else app.commit
            ended = end(as_=case.step(case.ending))
        if not ended.done:
            app.abort(as_=case.step("abort after"))
        return ended

    def _again(self, case: ErrorCase, app: Application) -> ClientCall:
        """On the same instance; a library that lets init be called again may need it."""
        if case.api == "InitProducerId":
            app.init(as_=case.step("again init"))
        return self._transaction(case, app, "again")

    def _transaction(self, case: ErrorCase, app: Application, which: str) -> ClientCall:
        app.begin(as_=case.step(f"{which} begin"))
        app.produce(self.partition, f"{case.name} {which}", as_=case.step(f"{which} produce"))
        return app.commit(as_=case.step(f"{which} commit"))

"""The stimulus of one error case: the error, and then what still works (:mod:`harness.contract.clients.error_case`)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field

from harness.base.unprepared import Unprepared
from harness.contract.clients.error_case import TRIED, ErrorCase
from harness.evidence.client_evidence import ClientCall
from harness.lab.clients.application import Application
from harness.lab.clients.client_lab import ClientLab, Settings
from harness.lab.clients.transact import joined
from harness.lab.partition import Group, Partition
from harness.lab.powers.request_gate import Gated, GateWish

TIMES: Settings = {"request_timeout_ms": 3_000, "delivery_timeout_ms": 6_000, "block_ms": 6_000}
"""Of applications that are given errors: some tell of one only when its time is over."""


def try_cases(lab: ClientLab, cases: Sequence[ErrorCase]) -> None:
    """Each case, with one application for as long as it works and the protocol is the same."""
    other = lab.partition("P2") if any(case.second or case.of_offsets for case in cases) else None
    trials = ErrorTrials(lab, lab.partition("P1"), other, lab.group())
    application: Application | None = None
    before: ErrorCase | None = None
    for number, case in enumerate(cases, 1):
        other_protocol = before is None or before.protocol != case.protocol
        if application is None or other_protocol or case.begins_anew or trials.must_join(case, application):
            if application is not None:
                application.close()
            application = trials.started(case, number)
        application = trials.of(case, application, number)
        before = case


@dataclass(frozen=True, slots=True)
class ErrorTrials:
    """Tries cases one after another.

    :param partition: To which every case writes.
    :param other: To which a case writes first, and which consumers read.
    :param group: Whose offsets are sent, where a case needs none of its own.
    :param groups: Those of single cases, by their applications.
    :param consuming: Applications that have a consumer.
    """

    lab: ClientLab
    partition: Partition
    other: Partition | None
    group: Group
    groups: dict[str, Group] = field(default_factory=dict)
    consuming: set[str] = field(default_factory=set)

    def started(self, case: ErrorCase, number: int) -> Application:
        """An application for this case, initialised if the error does not come then."""
        name = f"app{number}"
        if case.of_group or self._joins:
            self.groups[name] = self.lab.group(f"G{number}")
        made = self.lab.application(name, protocol=case.protocol, group=self._group_of(name), **TIMES)
        if not case.at_init:
            made.init(as_="init")
        return made

    def of(self, case: ErrorCase, app: Application, number: int) -> Application | None:
        """Try it; the application that works afterwards, None where none does."""
        if case.at_init:
            with self._refused(case, app, case.api, times=case.times):
                tried = app.init(as_=case.step("init"))
            if tried.done:
                return app if self._transaction(case, app, "first").done else None
        else:
            try:
                tried = self._failing(case, app)
            except Unprepared:
                if not app.running:
                    raise
                app.close()  # its library cannot do what the case is of, and the check sees that it was given no error
                return None
            if tried.done:
                return app
        if self._again(case, app).done:
            return app
        app.kill()
        name = f"anew{number}"
        if self._joins:
            self.groups[name] = self.lab.group(f"A{number}")
        newer = self.lab.application(name, same_id=app, protocol=case.protocol, group=self._group_of(name), **TIMES)
        newer.init(as_=case.step("anew init"))
        return newer if self._transaction(case, newer, "anew").done else None

    def _failing(self, case: ErrorCase, app: Application) -> ClientCall:
        """The transaction in which the error comes; its end, and the abort where that failed."""
        if case.of_offsets:
            self._consumes(app)
        begun = app.begin(as_=case.step("begin"))
        if not begun.done:
            return begun
        if case.second:
            app.produce(self._first(case), f"{case.name} first", as_=case.step("produce first"))
        with ExitStack() as coordinator:
            for api in case.also:
                coordinator.enter_context(self._refused(case, app, api, times=None))
            with self._refused(case, app, case.api, times=case.times):
                ended = self._rest(case, app)
            if not ended.done:
                app.abort(as_=case.step("abort after"))
        return ended

    def _rest(self, case: ErrorCase, app: Application) -> ClientCall:
        app.produce(self.partition, f"{case.name} a", as_=case.step("produce"))
        if case.of_offsets:
            app.send_offsets(self._group_of(app.name), {self.partition: 1}, as_=case.step("send_offsets"))
        end = app.abort if case.ending == "abort" else app.commit
        return end(as_=case.step(case.ending))

    def _again(self, case: ErrorCase, app: Application) -> ClientCall:
        """On the same instance, and once more after an abort; where init failed, it is called again."""
        if case.at_init:
            app.init(as_=case.step(f"{TRIED[0]} init"))
        committed = self._transaction(case, app, TRIED[0])
        if committed.done:
            return committed
        app.abort(as_=case.step(f"{TRIED[0]} abort"))
        if case.at_init:
            app.init(as_=case.step(f"{TRIED[1]} init"))
        return self._transaction(case, app, TRIED[1])

    def _transaction(self, case: ErrorCase, app: Application, which: str) -> ClientCall:
        """Its commit, or the call before it that failed."""
        begun = app.begin(as_=case.step(f"{which} begin"))
        if not begun.done:
            return begun
        wrote = app.produce(self.partition, f"{case.name} {which}", as_=case.step(f"{which} produce"))
        committed = app.commit(as_=case.step(f"{which} commit"))
        return committed if wrote.done else wrote

    def _refused(
        self, case: ErrorCase, app: Application, api: str, *, times: int | None
    ) -> AbstractContextManager[Gated]:
        """The gate answers with the case's error; of lookups of a coordinator, those of the case's key alone."""
        wish: GateWish = {"error": case.error, "at_most": times}
        if api == "FindCoordinator":
            wish["only"] = (self._group_of(app.name).name if case.of_group else app.transactional_id,)
        if api == "Produce":
            wish["log_start"] = case.log_start
        return app.gate(api, "refuse", name=f"{api} of {case.name}", **wish)

    @property
    def _joins(self) -> bool:
        """Whether the library sends offsets as a member alone; the group is then the application's own."""
        return "foreign-offsets" in self.lab.client.lacks

    def must_join(self, case: ErrorCase, app: Application) -> bool:
        """Whether the case needs a member, which a new application becomes before anything can have failed."""
        return case.of_offsets and self._joins and app.name not in self.consuming

    def _consumes(self, app: Application) -> None:
        """Some libraries take the group from a consumer alone; it is a member only where it must be."""
        if app.name in self.consuming or self.other is None:
            return
        self.consuming.add(app.name)
        if self._joins:
            joined(app, f"{app.name} joining", self.other)
        else:
            app.subscribe(self.other, joins=False)

    def _first(self, case: ErrorCase) -> Partition:
        """Where the earlier record goes; the coordinator is asked for another partition once more."""
        return self.other if case.api == "AddPartitionsToTxn" and self.other is not None else self.partition

    def _group_of(self, application: str) -> Group:
        return self.groups.get(application, self.group)

"""KIP664-TOOL-01: an operator's tool lists, describes and aborts transactions, describes producers, finds what hangs.

The KIP gives its five commands as options (``--list``); they became sub-commands (``list``), and the form of the KIP is
a wrong usage now. That there are these five is the KIP's promise; that they are words, and how a wrong usage ends, is
Kafka's. The exit code of a help text is not asked for: Kafka's is 1, that of a wrong usage.
"""

from harness.contract import Access, Evidence, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import COMMAND_UNKNOWN, ERRORS_END_WELL
from harness.contract.doctored import evidence
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import printed, ran
from harness.lab import Lab

COMMANDS = ("list", "describe", "describe-producers", "abort", "find-hanging")


def stimulus(lab: Lab) -> None:
    """The tool is asked for its help, and for that of each command; then for a command in the KIP's own form."""
    asked = {"overview": ("--help",), "option": ("--list",), **{name: (name, "--help") for name in COMMANDS}}
    running = {name: lab.start_operator(*arguments) for name, arguments in asked.items()}
    for name, command in running.items():
        command.answer(as_=name)


def check(seen: Evidence) -> Observations:
    """Every command has a help text of its own and stands in the overview."""
    overview = seen["overview"]
    for name in COMMANDS:
        own, help_ = f"host:port {name} ", seen[name]
        yield expect.unless(own in printed(help_), f"{name} tells its usage", help_, otherwise="command-missing")
        listed = f" {name} " in printed(overview)
        yield expect.unless(listed, f"{name} is listed", overview, otherwise="command-unlisted")
    yield expect.habit(expect.refused(seen["option"], 1, otherwise="option-accepted"))


def _help(name: str) -> str:
    return f"usage: kafka-transactions.sh --bootstrap-server host:port {name} [-h]"


GOOD = evidence(
    ran("overview", "usage: kafka-transactions.sh [-h]", *(f"    {name}    does it" for name in COMMANDS), exit_code=1),
    ran("option", exit_code=1, stderr="usage: kafka-transactions.sh [-h]"),
    *(ran(name, _help(name), exit_code=1) for name in COMMANDS),
)

REQUIREMENT = Requirement(
    id="KIP664-TOOL-01",
    source=Source(664, "Command Line Tool"),
    statement="kafka-transactions.sh has the commands list, describe, describe-producers, abort and find-hanging.",
    needs=(Offers("ListTransactions", 0),),
    access=(Access.TOOL,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("command-missing", GOOD.with_step(name, stdout=["usage: [-h]"])) for name in COMMANDS),
        Refusal("command-unlisted", GOOD.with_step("overview", stdout=["usage: kafka-transactions.sh [-h]"])),
        Refusal("option-accepted", GOOD.with_step("option", error=0)),
        Refusal("unanswered", GOOD.with_step("option", error=None)),
        Refusal("wrong-error", GOOD.with_step("option", error=2)),
    ),
    refuted_by=(
        Failpoint(rules=COMMAND_UNKNOWN, anomaly="command-missing"),
        Failpoint(rules=COMMAND_UNKNOWN, anomaly="command-unlisted"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="option-accepted"),
    ),
)

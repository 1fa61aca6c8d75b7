"""Break the judged code on purpose, by Byteman rules, to prove that a requirement can fail.

Byteman is loaded into the nodes when the first rule is; a cluster that is only judged never has it. Its listener takes
commands as lines of text. A rule can fail twice: when its class is transformed, which :meth:`Failpoints.load` reports
at once where the class is loaded already, and when its body is first run, because only then is it type-checked.
Byteman then goes on as if there was no rule, so :meth:`Failpoints.unload` asks again and raises.
"""

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.cluster.nodes import java_agents
from harness.cluster.nodes.node import Node
from harness.cluster.nodes.node_addresses import NodeAddresses
from harness.cluster.nodes.node_ports import BYTEMAN

ANSWER_SECONDS = 30.0
BESIDE = 0
"""Number of the script that holds a fault of one node; those of all nodes count from 1."""
FAILURES = ("EXCEPTION", "ERROR", "threw ", "failed ", "Rule.ensureTypeCheckedCompiled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failpoints:
    """The rules that are loaded; kept, so that a restarted node gets them too."""

    addresses: NodeAddresses
    scripts: list[str] = field(default_factory=list)

    def load(self, nodes: Sequence[Node], rules: str) -> None:
        """Load rules into the nodes.

        :raises RuntimeError: With Byteman's message, when a rule does not apply; then no rule is left.
        """
        for node in nodes:
            self.prepare(node)
        self.scripts.append(rules)
        try:
            for node in nodes:
                self._load(node, len(self.scripts), rules)
        except RuntimeError:
            self._delete(nodes)
            raise

    def load_again(self, node: Node) -> None:
        """Load all loaded rules into a node that was restarted."""
        for number, rules in enumerate(self.scripts, 1):
            self.prepare(node)
            self._load(node, number, rules)

    def unload(self, nodes: Sequence[Node]) -> None:
        """Take all rules out again.

        :raises RuntimeError: With Byteman's message, when a rule failed while it was there.
        """
        if not self.scripts:
            return
        answers = [self._command(node, "LIST\n") for node in nodes]
        self._delete(nodes)
        for node, answer in zip(nodes, answers, strict=True):
            _refuse_failures(node, answer)

    def entered(self, nodes: Sequence[Node]) -> frozenset[str]:
        """The names of loaded rules whose place was come to in some node: only then is a rule compiled."""
        return frozenset(name for node in nodes for name in _compiled(self._command(node, "LIST\n")))

    def load_beside(self, node: Node, rules: str) -> None:
        """Load rules into one node beside those that are kept; a restart of the node ends them.

        :raises RuntimeError: With Byteman's message, when a rule does not apply; then none of these is left.
        """
        self.prepare(node)
        try:
            self._load(node, BESIDE, rules)
        except RuntimeError:
            self._command(node, _deletion(rules))
            raise

    def unload_beside(self, node: Node, rules: str) -> frozenset[str]:
        """Take those out again; the names of those whose place was come to.

        :raises RuntimeError: With Byteman's message, when a rule failed while it was there.
        """
        answer = self._command(node, "LIST\n")
        self._command(node, _deletion(rules))
        _refuse_failures(node, answer)
        named = {line.removeprefix("RULE ").strip() for line in rules.splitlines() if line.startswith("RULE ")}
        return frozenset(named.intersection(_compiled(answer)))

    def prepare(self, node: Node) -> None:
        """Load the agent into the node, once in a JVM's life."""
        address = self.addresses.node(node.number, BYTEMAN)
        options = f"listener:true,address:{address.host},port:{address.port}"
        node.load_agent(java_agents.jar_of(java_agents.BYTEMAN), options)

    def _load(self, node: Node, number: int, rules: str) -> None:
        _refuse_failures(node, self._command(node, f"LOAD\n{_script(number, rules)}ENDLOAD\n"))
        _refuse_failures(node, self._command(node, "LIST\n"))

    def _delete(self, nodes: Sequence[Node]) -> None:
        self.scripts.clear()
        for node in nodes:
            self._command(node, "DELETEALL\n")

    def _command(self, node: Node, command: str) -> str:
        address = self.addresses.node(node.number, BYTEMAN)
        with socket.create_connection((address.host, address.port), ANSWER_SECONDS) as connection:
            connection.sendall(command.encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile() as reader:
                return reader.read()


def _script(number: int, rules: str) -> str:
    return f"SCRIPT fencepost-{number}\n{rules.rstrip()}\nENDSCRIPT\n"


def _deletion(rules: str) -> str:
    return f"DELETE\n{_script(BESIDE, rules)}ENDDELETE\n"


def _compiled(listed: str) -> Iterator[str]:
    """Byteman tells of each rule its text, then each place where it was put in, then whether it is compiled."""
    name = ""
    for line in listed.splitlines():
        if line.startswith("RULE "):
            name = line.removeprefix("RULE ").strip()
        elif line.startswith("compiled successfully"):
            yield name


def _refuse_failures(node: Node, answer: str) -> None:
    lines = answer.splitlines()
    failed = [i for i, line in enumerate(lines) if line.startswith(FAILURES)]
    if failed:
        # After the first failure comes its cause; the frames of its stack do not concern the rule.
        message = [line.strip() for line in lines[failed[0] :] if line.strip() and not line.startswith(("\tat ", "OK"))]
        raise RuntimeError(f"{node.name}: {' '.join(message)}")

"""The five workloads on the model: transfer, relay, interleave, zombies, silence; generators that take turns."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from suites.selfcheck.histories.broker import Place
from suites.selfcheck.histories.client import Client, Steps, World

KINDS = ("wire-v2", "wire-v1", "librdkafka")


@dataclass(slots=True, kw_only=True)
class Player:
    """A role: successors of one name, each with a client of its own."""

    world: World
    role: str
    transactional_id: str
    kind: str
    group: str | None = None
    sure: bool = False
    incarnation: int = 0
    client: Client = field(init=False)
    _fresh: bool = False

    def __post_init__(self) -> None:
        """The first actor enters."""
        self._enter()

    def transact(
        self, writings: Sequence[tuple[Place, str]], *, commit: bool, offsets: Sequence[tuple[Place, int]] = ()
    ) -> Generator[None, None, bool]:
        """A whole transaction; True when it certainly committed."""
        if not (yield from self.begin(len(writings))):
            return False
        for place, payload in writings:
            yield from self.client.produce(place, payload)
            if not self.client.done:
                yield from self.give_up()
                return False
        for place, offset in offsets:
            yield from self.client.send_offsets(place, offset)
            if not self.client.done:
                yield from self.give_up()
                return False
        return (yield from self.end(commit=commit))

    def begin(self, size: int) -> Generator[None, None, bool]:
        """Begin, initialising where the client is new; False when the role has to try again."""
        if not self._fresh:
            yield from self.client.init()
            self._fresh = self.client.done
            if not self._fresh:
                yield from self.succeed()
                return False
        yield from self.client.begin(size)
        return True

    def end(self, *, commit: bool) -> Generator[None, None, bool]:
        """Commit or abort; whoever is not sure of it is succeeded."""
        yield from self.client.end(commit=commit)
        if not self.client.done:
            yield from self.succeed()
            return False
        return commit

    def give_up(self) -> Steps:
        """Abort, and be succeeded."""
        yield from self.client.end(commit=False)
        yield from self.succeed()

    def succeed(self) -> Steps:
        """Leave the rest to a successor."""
        yield from self.client.close()
        self._enter()

    def _enter(self) -> None:
        self.incarnation += 1
        name = self.role if self.incarnation == 1 else f"{self.role}.{self.incarnation}"
        self.client = Client(
            world=self.world,
            actor=name,
            kind=self.kind,
            transactional_id=self.transactional_id,
            group=self.group,
            sure=self.sure,
        )
        self._fresh = False


def transfer(world: World, turns: int) -> Sequence[Steps]:
    """Money moves; the amounts of a transaction sum to 0."""

    def play(player: Player) -> Steps:
        for _ in range(turns):
            accounts = world.rng.sample(range(8), world.rng.choice((2, 2, 3)))
            amounts = [world.rng.randint(1, 9) for _ in accounts[1:]]
            entries = zip(accounts, [-sum(amounts), *amounts], strict=True)
            places = world.broker.places
            moves = [(places[account % len(places)], f"money:{account}:{amount:+d}") for account, amount in entries]
            yield from player.transact(moves, commit=world.rng.random() < 0.85)

    return [play(_player(world, f"teller-{number}")) for number in range(3)]


def interleave(world: World, turns: int) -> Sequence[Steps]:
    """Many transactions are open on few partitions, and many are aborted."""

    def play(player: Player) -> Steps:
        for _ in range(turns):
            yield from player.transact(_writings(world, 1, 4), commit=world.rng.random() < 0.6)

    return [play(_player(world, f"weaver-{number}")) for number in range(4)]


def zombies(world: World, turns: int) -> Sequence[Steps]:
    """Three producers share an id; who is fenced may try to commit all the same."""

    def play(player: Player) -> Steps:
        for _ in range(turns):
            if not (yield from player.begin(size := world.rng.randint(1, 3))):
                continue
            sure = True
            for place, payload in _writings(world, size, size):
                yield from _idle(world, 6)
                yield from player.client.produce(place, payload)
                sure = sure and player.client.done
            if sure or world.rng.random() < 0.5:
                yield from player.end(commit=world.rng.random() < 0.8)
                if not sure and player.client.done:
                    yield from player.succeed()
            else:
                yield from player.give_up()

    kind = world.rng.choice(KINDS)
    return [play(_player(world, f"haunted-{letter}", shared="haunted", kind=kind)) for letter in "abc"]


def silence(world: World, turns: int) -> Sequence[Steps]:
    """Producers fall silent in mid-transaction until the coordinator ends it; some come back too late."""

    def fall_silent(player: Player) -> Steps:
        for _ in range(turns):
            if world.rng.random() < 0.4:
                yield from player.transact(_writings(world, 1, 3), commit=True)
                continue
            if not (yield from player.begin(3)):
                continue
            for place, payload in _writings(world, 1, 2):
                yield from player.client.produce(place, payload)
            yield from _idle(world, 10)
            world.broker.time_out(player.transactional_id)
            if world.rng.random() < 0.5:
                yield from player.end(commit=True)
            else:
                yield from player.succeed()

    def go_on(player: Player) -> Steps:
        for _ in range(turns):
            yield from player.transact(_writings(world, 1, 3), commit=world.rng.random() < 0.8)

    silent = [fall_silent(_player(world, f"silent-{number}")) for number in range(2)]
    return [*silent, *(go_on(_player(world, f"neighbour-{number}")) for number in range(2))]


def relay(world: World, turns: int) -> Sequence[Steps]:
    """Inputs are carried to outputs, each with the group's offsets in the same transaction, by members that change."""
    half = len(world.broker.places) // 2
    inputs, outputs = world.broker.places[:half], world.broker.places[half:]
    group = f"{world.name}relay"

    def feed(player: Player) -> Steps:
        for _ in range(turns):
            writings = [(world.rng.choice(inputs), "") for _ in range(world.rng.randint(1, 3))]
            yield from player.transact(writings, commit=world.rng.random() < 0.85)

    def carry(player: Player) -> Steps:
        for _ in range(2 * turns):
            yield from _idle(world, 20)
            _rebalance(world, player, inputs)
            owners = world.broker.owners
            player.client.claims = {place: owner for place, owner in owners.items() if owner[0] == player.client.actor}
            starts = [(place, world.broker.stable_offset_of(group, place)) for place in player.client.claims]
            mine = [(place, at) for place, at in starts if at is not None]
            taken = yield from player.client.poll(mine, world.rng.randint(1, 4))
            if taken:
                writings = [(world.rng.choice(outputs), f"relay:{place[0]}-{place[1]}@{at}") for place, at in taken]
                nexts = {place: at + 1 for place, at in taken}
                member, commit = player.incarnation, world.rng.random() < 0.85
                committed = yield from player.transact(writings, commit=commit, offsets=list(nexts.items()))
                if not committed and member == player.incarnation:
                    yield from player.succeed()  # only a new member begins again at the committed offsets

    feeder = feed(_player(world, "feeder"))
    return [feeder, *(carry(_player(world, f"relayer-{number}", group=group)) for number in range(2))]


WORKLOADS: Mapping[str, Callable[[World, int], Sequence[Steps]]] = {
    "transfer": transfer,
    "relay": relay,
    "interleave": interleave,
    "zombies": zombies,
    "silence": silence,
}


def probe(world: World) -> Steps:
    """After heal, one transaction to every partition must come to its end."""
    player = _player(world, f"probe-{world.name}1", sure=True)
    yield from player.transact([(place, "probe") for place in world.broker.places], commit=True)
    yield from player.client.close()


def _player(
    world: World, role: str, *, shared: str = "", kind: str = "", group: str | None = None, sure: bool = False
) -> Player:
    name = role if role.startswith("probe-") else f"{world.name}{role}"
    return Player(
        world=world,
        role=name,
        transactional_id=f"{world.name}{shared or role}",
        kind=kind or world.rng.choice(KINDS),
        group=group,
        sure=sure,
    )


def _writings(world: World, least: int, most: int) -> list[tuple[Place, str]]:
    return [(world.rng.choice(world.broker.places), "") for _ in range(world.rng.randint(least, most))]


def _idle(world: World, longest: int) -> Steps:
    for _ in range(world.rng.randrange(longest)):
        world.tick()
        yield


def _rebalance(world: World, player: Player, inputs: Sequence[Place]) -> None:
    """Members come and go: a partition may change hands before any poll."""
    for place in inputs:
        if place not in world.broker.owners or world.rng.random() < 0.3:
            world.broker.assign(place, player.client.actor)

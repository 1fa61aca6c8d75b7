"""Topics on servers of different manners: through the controller, with an assignment or without, or by asking."""

import _thread
import signal
import sys
import traceback
from collections.abc import Iterator
from threading import Event, Thread, Timer, main_thread

import pytest

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.kafka import topics as topics_module
from harness.kafka.any_broker import AnyBroker
from harness.kafka.topics import CLUSTERS_CHOICE, TopicLayout, Topics
from harness.wire.requests.cluster.create_topic import CreateTopic, CreateTopicResult
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.cluster.metadata import Metadata
from suites.selfcheck.fixtures.fake_kafka import APIS, FakeKafka

WANTED = {0: (2, 3), 1: (3, 1)}


def create(kafka: FakeKafka, name: str = "t") -> TopicLayout:
    """A topic with an assignment, or so many partitions without."""
    return Topics(kafka.any_broker).create(name, partitions=4, replicas=2, assignment=WANTED)


def leaders(layout: TopicLayout) -> list[int]:
    """The leader of each partition."""
    return [layout.leader(index) for index in sorted(layout.partitions)]


def test_an_assignment_that_is_taken_decides_the_leaders() -> None:
    kafka = FakeKafka()
    assert leaders(create(kafka)) == [2, 3]
    (request,) = kafka.requests(CreateTopic)
    assert request.assignment == WANTED


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT is an interrupt, also where the shell that began the tests has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_comes_after_the_answer_so_that_what_was_made_can_be_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kafka, late = FakeKafka(), Event()
    answered, ask = list[str](), AnyBroker.controller

    def is_awaited() -> bool:
        stack = traceback.walk_stack(sys._current_frames()[main_thread().ident or 0])
        return any(frame.f_code.co_name == "result" for frame, _ in stack)

    def interrupted(broker: AnyBroker, request: CreateTopic) -> CreateTopicResult:
        wait.elapsed_ms_until(is_awaited, timeout_seconds=5)
        _thread.interrupt_main()
        Timer(0.1, late.set).start()
        late.wait()
        answered.append(request.name)
        return ask(broker, request)

    monkeypatch.setattr(AnyBroker, "controller", interrupted)
    with pytest.raises(KeyboardInterrupt):
        create(kafka)
    assert answered == ["t"]


def test_an_interrupt_on_the_start_of_the_asking_thread_comes_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kafka, start, started = FakeKafka(), Thread.start, list[Thread]()

    def interrupted(thread: Thread) -> None:
        started.append(thread)
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        create(kafka)
    (asking,) = started
    asking.join()
    assert kafka.requests(CreateTopic) == []


@pytest.mark.parametrize("refused", ["INVALID_REPLICA_ASSIGNMENT", "INVALID_REQUEST", "POLICY_VIOLATION"])
def test_a_refused_assignment_is_left_out(refused: str) -> None:
    kafka = FakeKafka(refused=KafkaError[refused], free_leaders=(3, 2))
    layout = create(kafka)
    assert leaders(layout) == [3, 2, 3, 2]
    placed, free = kafka.requests(CreateTopic)
    assert (placed.assignment, free.assignment, free.partitions, free.replicas) == (WANTED, None, 4, 2)


def test_leaders_of_an_assignment_that_is_taken_and_not_obeyed_are_read() -> None:
    kafka = FakeKafka(obeys=False, free_leaders=(1,))
    assert leaders(create(kafka)) == [1, 1]


def test_a_replication_factor_that_is_refused_is_left_to_the_cluster() -> None:
    refused = KafkaError.INVALID_REPLICATION_FACTOR
    kafka = FakeKafka(refused=refused, factor_refused=refused)
    create(kafka)
    assert [request.replicas for request in kafka.requests(CreateTopic)[1:]] == [2, CLUSTERS_CHOICE]


def test_there_are_never_more_replicas_than_brokers() -> None:
    kafka = FakeKafka(brokers=(7,), controller=7)
    Topics(kafka.any_broker).create("t", partitions=2, replicas=3)
    (request,) = kafka.requests(CreateTopic)
    assert request.replicas == 1


def test_another_refusal_is_told_in_the_brokers_words() -> None:
    with pytest.raises(Unprepared, match=r"CreateTopics answered TOPIC_AUTHORIZATION_FAILED \(29\)"):
        create(FakeKafka(refused=KafkaError.TOPIC_AUTHORIZATION_FAILED))


def test_the_controller_is_asked_where_nobody_hands_on() -> None:
    kafka = FakeKafka(controller=3, hands_on=False)
    create(kafka)
    assert [node for node, request in kafka.asked if isinstance(request, CreateTopic)] == [3]


def test_every_broker_is_tried_where_metadata_names_one_that_is_none() -> None:
    kafka = FakeKafka(controller=3, named=-1, hands_on=False)
    create(kafka)
    assert [node for node, request in kafka.asked if isinstance(request, CreateTopic)] == [1, 2, 3]


def test_a_silent_broker_is_passed_over() -> None:
    kafka = FakeKafka(brokers=(1, 2, 3), controller=1, hands_on=False)
    kafka.silent.add(1)
    with pytest.raises(Unprepared, match=r"broker 1: no answer; broker 2 is not the controller; broker 3 is not"):
        kafka.any_broker.controller(DeleteTopics(topics=("t",)))


def test_a_topic_comes_by_asking_where_none_can_be_created() -> None:
    kafka = FakeKafka(apis=[api for api in APIS if api != "CreateTopics"], creates_by_asking=4)
    assert leaders(create(kafka)) == [1, 2, 3, 1]
    assert kafka.requests(CreateTopic) == []


def test_a_cluster_that_creates_no_topics_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics_module, "PROPAGATION_SECONDS", 0.05)
    with pytest.raises(Unprepared, match="CreateTopics is not offered, and no topic comes by itself"):
        create(FakeKafka(apis=("Metadata",)))


def test_a_new_topic_is_waited_for_until_every_broker_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = FakeKafka(lagging={3: 4})
    create(kafka)
    asked = [node for node, request in kafka.asked if isinstance(request, Metadata) and request.topics]
    assert asked.count(3) == 5
    monkeypatch.setattr(topics_module, "PROPAGATION_SECONDS", 0.05)
    with pytest.raises(wait.TimedOut, match="topic t on every broker"):
        create(FakeKafka(lagging={2: 10**9}))


def test_deleting_tells_what_is_still_there() -> None:
    kafka = FakeKafka()
    kafka.place("t", 1)
    assert Topics(kafka.any_broker).delete(["t", "never-there"]) == {}
    assert kafka.topics == {}
    apart = FakeKafka(brokers=(1, 2), controller=9, hands_on=False)
    with pytest.raises(Unprepared, match="DeleteTopics was not taken"):
        Topics(apart.any_broker).delete(["t"])


def test_partitions_led_by_a_broker_come_with_index_0_last() -> None:
    kafka = FakeKafka()
    kafka.place("t", 2, 1, 2, 3, replicas=2)
    layout = Topics(kafka.any_broker).layout("t")
    assert layout is not None
    assert (layout.led_by((2,)), layout.led_by((2, 3)), layout.led_by((1,), replicas=3)) == ([2, 0], [2, 3, 0], [])


def test_a_topic_is_gone_once_no_broker_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.kafka.topics.PROPAGATION_SECONDS", 0.05)
    kafka = FakeKafka()
    kafka.place("t", 1)
    topics = Topics(kafka.any_broker)
    assert not topics.await_gone("t")
    topics.delete(("t",))
    assert topics.await_gone("t")

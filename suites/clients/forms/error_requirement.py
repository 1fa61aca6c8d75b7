"""Promises about errors: each is a table of cases, tried in turn and judged alike."""

from collections.abc import Sequence

from harness.contract import Library, LyingClient, Need, Offers, Order, Refuter, Requirement, Source
from harness.contract.clients.error_case import ErrorCase, judged_cases
from harness.contract.clients.error_stories import refusals, story
from harness.contract.refuters import SOUND_CLIENT
from harness.lab.clients import ClientLab
from harness.lab.clients.error_trial import try_cases

TRANSACTIONS = Offers("EndTxn", 0)
"""What every promise of a transactional client needs of its brokers."""
LIBRDKAFKA = Library(("librdkafka",))
SOUND_LIBRDKAFKA = "librdkafka:2.16.1"


def error_requirement(
    id_: str,
    *,
    source: Source,
    statement: str,
    cases: Sequence[ErrorCase],
    refuted_by: tuple[Refuter, ...],
    needs: tuple[Need, ...] = (TRANSACTIONS,),
    order: Order = Order.CALM,
    client: str = SOUND_CLIENT,
) -> Requirement[ClientLab]:
    """A promise about these cases.

    What becomes of records is promised to every application (MUST); how a client recovers is the Java client's way,
    which KIP-691 writes down, so another way is a finding of level SHOULD.

    :param client: One that keeps the promise, before which adapters lie.
    """
    return Requirement(
        id=id_,
        source=source,
        statement=statement,
        needs=needs,
        stimulus=lambda lab: try_cases(lab, cases),
        check=lambda seen: judged_cases(seen, cases),
        accepts=(story(cases),),
        refuses=refusals(cases),
        refuted_by=(*lies(client), *refuted_by),
        order=order,
    )


def lies(client: str = SOUND_CLIENT) -> tuple[Refuter, ...]:
    """What makes every promise fail that looks at what a client said of its records."""
    return (
        LyingClient(lie="writes-again", client=client, anomaly="written-twice"),
        LyingClient(lie="aborts-instead", client=client, anomaly="lost"),
    )


LIES = lies()

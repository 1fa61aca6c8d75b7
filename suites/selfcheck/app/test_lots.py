"""Which requirements form a lot, and which lot a second run takes."""

from dataclasses import replace

from harness.app.lots import WORTH_A_CLUSTER, Lot, Lots, lots_of
from harness.base.paths import CONTRACT
from harness.contract import Access, Order, OwnCluster
from harness.contract.catalogue.requirement_catalogue import load

ANY = load(CONTRACT / "kip890" / "feature_level" / "transaction_version_is_advertised.py")[0].requirement
CALM = replace(ANY, id="KIP890-CALM-01", order=Order.CALM, access=(), cluster=None)
FIRST, NEXT = (replace(CALM, id=f"KIP890-LANE-{number}", access=(Access.LANES,)) for number in (1, 2))
WISH, OTHER = OwnCluster(fresh="a"), OwnCluster(fresh="b")
WISHED = tuple(replace(each, id=f"{each.id}-WISHED", cluster=WISH) for each in (CALM, FIRST, NEXT))
OTHERS = replace(FIRST, id="KIP890-LANE-3", cluster=OTHER)
EVERY = (CALM, FIRST, NEXT, *WISHED, OTHERS)
OWN = [Lot(wish=WISH, beside=WISHED[:1], alone=WISHED[1:]), Lot(wish=OTHER, alone=(OTHERS,))]


def test_the_common_clusters_are_shared_one_by_one_and_a_cluster_of_its_own_is_one_lot() -> None:
    common = [Lot(wish=None, beside=(CALM,)), Lot(wish=None, alone=(FIRST,)), Lot(wish=None, alone=(NEXT,))]
    assert lots_of(EVERY).left == [*common, *OWN]
    assert lots_of((FIRST,)).left == common[1:2]


def test_the_first_run_takes_them_in_their_order() -> None:
    lots, expected = lots_of(EVERY), lots_of(EVERY).left
    assert [lots.first() for _ in range(6)] == [*expected, None]


def test_the_second_takes_clusters_of_their_own_and_no_other_cluster_for_a_few() -> None:
    lots = lots_of(EVERY)
    assert [lots.apart(on_common=False) for _ in range(3)] == [*OWN, None]
    assert lots.apart(on_common=True) == Lot(wish=None, beside=(CALM,))
    assert len(lots.left) == 2


def test_the_second_takes_those_first_that_stop_and_start_brokers() -> None:
    hurting = Lot(wish=OwnCluster(fresh="c"), alone=(replace(OTHERS, order=Order.HURTS_CLUSTER),))
    lots = Lots([*OWN, hurting])
    assert [lots.apart(on_common=False) for _ in range(3)] == [hurting, *OWN]


def test_for_many_another_common_cluster_is_worth_its_start() -> None:
    many = [Lot(wish=None, alone=(FIRST,))] * WORTH_A_CLUSTER
    assert Lots(list(many)).apart(on_common=False) == many[0]
    assert Lots(many[1:]).apart(on_common=False) is None


def test_of_what_is_cleared_nothing_is_given() -> None:
    lots = lots_of(EVERY)
    lots.clear()
    assert (lots.first(), lots.apart(on_common=True)) == (None, None)

"""The searches for an order of every transactional id, in the driver or in Spark's executors, and what they may cost.

Each id is a group of its own, which one of Spark's executors searches whole. A small history is searched in the driver:
starting Python in the executors takes longer. Most ids take a few configurations for each answer; those that a Kafka
leaves hanging may take more than anybody waits for. So what is not done after :data:`FIRST` is searched again, further,
and all such ids share :data:`FURTHER`; where they are too many for that, they are given up.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.client_trace import COLUMNS, Row
from harness.judge.order_search import SEARCHED, OrderSearch, SearchedId
from harness.model.traces.trace_check import MOST, Explained
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.python_workers import with_our_python

IN_DRIVER = 60_000
"""Operations that the driver searches itself, at 0.1 to 0.5 ms each (``suites/bench/test_order_cost.py`` measures both
ways). Searches in executors keep the tasks of the other checks waiting: of a round of 50,000 operations all was judged
in 27 s with the driver, in 35 s with them.
"""
TASKS_A_CORE = 4
"""Ids are of different length: with several tasks a core none waits long for the last one."""
FIRST, FURTHER = 2_500, 3 * MOST
"""Configurations of each id, beside those that its answers need; and of all together that are not done then. Some
5,000 are looked at in a second; what Kafka does in order needs some hundred, however many answers are lost."""


def search_all(operations: DataFrame, search: OrderSearch, in_driver: int = IN_DRIVER) -> Sequence[SearchedId]:
    """Every id's operations searched, by id. :param in_driver: Most operations that the driver searches itself."""
    ours = operations.select("transactional_id", *COLUMNS)
    found = {one.transactional_id: one for one in _search(ours, replace(search, most=FIRST), in_driver)}
    given_up = [name for name, one in found.items() if one.explained == Explained.GIVEN_UP]
    if given_up and (further := FURTHER // len(given_up)) > FIRST:
        theirs = ours.where(F.col("transactional_id").isin(given_up))
        again = _search(theirs, replace(search, most=min(MOST, further)), in_driver)
        found.update((one.transactional_id, one) for one in again)
    return [*found.values()]


def _search(ours: DataFrame, search: OrderSearch, in_driver: int) -> Sequence[SearchedId]:
    return _in_driver(collect_rows(ours), search) if ours.count() <= in_driver else _in_executors(ours, search)


def _in_driver(ours: Iterable[Any], search: OrderSearch) -> Sequence[SearchedId]:
    several = defaultdict[str, list[Row]](list)
    for row in ours:
        several[row["transactional_id"]].append(row.asDict())
    return [search.searched(name, rows) for name, rows in sorted(several.items())]


def _in_executors(ours: DataFrame, search: OrderSearch) -> Sequence[SearchedId]:
    """A plain function of Python on the rows of each id; it needs no pandas.

    Rows go there as JSON: with Spark's own rows all of it takes half as long again.
    """
    spark = with_our_python(ours.sparkSession)
    tasks = TASKS_A_CORE * spark.sparkContext.defaultParallelism
    searched = F.udf(search.as_row, SEARCHED)
    grouped = ours.repartition(tasks, "transactional_id").groupBy("transactional_id")
    as_json = F.to_json(F.struct(*COLUMNS), {"ignoreNullFields": "false"})
    rows = grouped.agg(F.collect_list(as_json).alias("rows"))
    found = rows.select(searched("transactional_id", "rows").alias("found")).select("found.*")
    return sorted((_read(row.asDict()) for row in collect_rows(found)), key=lambda one: one.transactional_id)


def _read(row: Mapping[str, Any]) -> SearchedId:
    operations = row["operations"]
    return SearchedId(**{**row, "operations": None if operations is None else tuple(operations)})

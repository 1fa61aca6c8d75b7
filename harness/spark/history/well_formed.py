"""What typed tables must satisfy before they are judged, row by row and together: else they never happened.

A judge that read a history with two operations of one number, or a write outside any transaction, would give verdicts
on nonsense. Histories are also written by others, so every table is checked that we did not seal ourselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from harness.evidence.history.operation import NEEDED
from harness.spark.history.table_schema import table_fields
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.parallel import in_parallel


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformation:
    """The first thing found wrong: in which table, and one sentence without a full stop."""

    table: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRule:
    """What a row must not be (SQL), and the sentence about a row that is (SQL, of strings and columns to be joined)."""

    wrong: str
    sentence: str


def _span(what: str) -> RowRule:
    sentence = f"{what}, ' ends at ', ended, ' before it starts at ', started"
    return RowRule(wrong="ended < started OR isnan(started) OR isnan(ended)", sentence=sentence)


OPERATION = "'operation ', number"
WRITES = "verb = 'produce' AND txn IS NOT NULL"
RULES: Mapping[str, Sequence[RowRule]] = {
    "operations": (
        RowRule(wrong="number < 1", sentence=f"{OPERATION}, ' is numbered below 1'"),
        _span(OPERATION),
        *(
            RowRule(wrong=f"verb = '{verb}' AND {name} IS NULL", sentence=f"{OPERATION}, ' ({verb}) lacks {name}'")
            for verb, names in NEEDED.items()
            for name in names
        ),
        RowRule(
            wrong=f"{WRITES} AND (size IS NULL OR ordinal IS NULL OR ordinal < 0)",
            sentence=f"{OPERATION}, ' (produce) lacks its ordinal or its size'",
        ),
        RowRule(
            wrong="outcome = 'refused' AND coalesce(error, 0) = 0 AND reason = ''",
            sentence=f"{OPERATION}, ' was refused without a reason'",
        ),
    ),
    "faults": (
        _span("'fault ', name"),
        RowRule(wrong="struck < 0", sentence="'fault ', name, ' struck ', struck, ' times'"),
    ),
    "phases": (_span("'phase ', name"),),
    "log": (
        RowRule(wrong="offset < 0", sentence="topic, '-', partition, ' has a record at offset ', offset"),
        RowRule(
            wrong="control IS NOT NULL AND value IS NOT NULL",
            sentence="'the marker at ', topic, '-', partition, '@', offset, ' has a value'",
        ),
    ),
    "reads": (RowRule(wrong="offset < 0", sentence="reader, ' read ', topic, '-', partition, ' at offset ', offset"),),
    "partitions": (
        RowRule(
            wrong="high_watermark < log_start_offset OR log_start_offset < 0",
            sentence="topic, '-', partition, ' ends at ', high_watermark, ' and starts at ', log_start_offset",
        ),
    ),
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "operations": ("number",),
    "log": ("topic", "partition", "offset"),
    "readers": ("reader", "topic", "partition"),
    "partitions": ("topic", "partition"),
    "offsets": ("group", "topic", "partition"),
}
"""What no two rows of a table share."""


def first_malformation(tables: Mapping[str, DataFrame]) -> Malformation | None:
    """Something that is wrong with the tables, rows first; None when nothing is."""
    found = in_parallel([partial(_found, list(search(tables))) for search in (_wrong_rows, _wrong_tables)])
    first = next((row for rows in found for row in rows if row.reason is not None), None)
    return None if first is None else Malformation(table=first.table, reason=first.reason)


def _found(searches: Sequence[DataFrame]) -> Sequence[Row]:
    """What the searches find, in their order; one query."""
    if not searches:
        return ()
    numbered = reduce(DataFrame.unionAll, (one.withColumn("nth", F.lit(nth)) for nth, one in enumerate(searches)))
    return sorted(collect_rows(numbered), key=lambda row: int(row.nth))


def _wrong_rows(tables: Mapping[str, DataFrame]) -> Iterator[DataFrame]:
    for table, rows in tables.items():
        rules = (*_column_rules(table), *RULES.get(table, ()))
        cases = " ".join(f"WHEN {rule.wrong} THEN concat_ws('', {rule.sentence})" for rule in rules)
        yield _first_reason(table, rows.select(F.expr(f"CASE {cases} END").alias("reason")))


def _column_rules(table: str) -> Iterator[RowRule]:
    for field in table_fields(table):
        if not field.nullable:
            yield RowRule(wrong=f"`{field.name}` IS NULL", sentence=f"'a row has no {field.name}'")
        if field.allowed:
            listed = ", ".join(f"'{value}'" for value in field.allowed)
            sentence = f"'{field.name} is ', `{field.name}`, ', not one of ', concat_ws(', ', {listed})"
            yield RowRule(wrong=f"`{field.name}` NOT IN ({listed})", sentence=sentence)


def _wrong_tables(tables: Mapping[str, DataFrame]) -> Iterator[DataFrame]:
    for table, key in KEYS.items():
        if table in tables:
            twice = tables[table].groupBy(*key).count().where("count > 1")
            named = ", ' ', ".join(f"'{name} ', `{name}`" for name in key)
            yield _first_reason(
                table, twice.select(F.expr(f"concat({named}, ' is there ', count, ' times')").alias("reason"))
            )
    if "operations" in tables:
        for search in (_overlaps, _stray, _begun_twice, _written_twice):
            yield _first_reason("operations", search(tables["operations"]))


def _overlaps(operations: DataFrame) -> DataFrame:
    """An actor's calls follow each other, in the order of their numbers; only writes of one transaction may overlap.

    They all come after what is before them and no write: their ``begin`` is there, and comes after everything else.
    """
    before = Window.partitionBy("actor").orderBy("number").rowsBetween(Window.unboundedPreceding, -1)
    write = F.expr(WRITES)
    ended = F.struct("ended", F.col("number").alias("n"))
    last, last_other = F.max(ended).over(before), F.max(F.when(~write, ended)).over(before)
    pairs = operations.select("actor", "number", "started", F.when(write, last_other).otherwise(last).alias("last"))
    sentence = (
        "concat('operation ', number, ' of ', actor, ' starts at ', started, "
        "' before its operation ', last.n, ' ended')"
    )
    return pairs.where("started < last.ended").select(F.expr(sentence).alias("reason"))


def _stray(operations: DataFrame) -> DataFrame:
    """What is done in a transaction comes after its actor began it."""
    within = operations.where("txn IS NOT NULL").groupBy("txn", "actor")
    first = within.agg(F.expr("min(number) AS n"), F.expr("min(CASE WHEN verb = 'begin' THEN number END) AS begun"))
    sentence = "concat('operation ', n, ' of ', actor, ' is in transaction ', txn, ', which ', actor, ' had not begun')"
    return first.where("begun IS NULL OR n < begun").select(F.expr(sentence).alias("reason"))


def _begun_twice(operations: DataFrame) -> DataFrame:
    twice = operations.where("verb = 'begin'").groupBy("txn").count().where("count > 1")
    return twice.select(F.expr("concat('transaction ', txn, ' is begun ', count, ' times')").alias("reason"))


def _written_twice(operations: DataFrame) -> DataFrame:
    """A value is unique by its transaction and ordinal, or a reader's record would belong to two writes."""
    twice = operations.where(WRITES).groupBy("txn", "ordinal").count().where("count > 1")
    sentence = "concat('record ', ordinal, ' of transaction ', txn, ' is written by ', count, ' operations')"
    return twice.select(F.expr(sentence).alias("reason"))


def _first_reason(table: str, reasons: DataFrame) -> DataFrame:
    return reasons.agg(F.min("reason").alias("reason")).select(F.lit(table).alias("table"), "reason")

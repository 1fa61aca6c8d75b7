"""The last stable offset reaches the high watermark once nothing is open, and is never above what is open (KIP-98).

Both ways of asking for it, ListOffsets (``partitions``) and a Fetch after it (``levels``), must tell the same.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.checks.hanging import left_open
from harness.judge.frames.lso_samples import too_high
from harness.judge.judge_context import JudgeContext
from harness.judge.partitions import JudgedPartition


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: partitions that told their last stable offset and have a log or were written to."""
    places = [place for place in scene.ground.places if _told(place)]
    return Examined(
        witnesses=len(places),
        findings=_findings(scene) if places else (),
        undecided="; ".join(_untold(scene)[:3]),
        reason="no partition that was written to told its last stable offset",
    )


def _told(place: JudgedPartition) -> bool:
    return place.last_stable_offset is not None and bool(place.rows or place.written or place.high_watermark)


def _untold(scene: JudgeContext) -> list[str]:
    return [one.lacking for one in scene.ground.places if one.high_watermark is None and one.lacking]


def _findings(scene: JudgeContext) -> list[DataFrame]:
    found = [_wrong_by_fetch(scene), too_high(scene)] if "levels" not in scene.history.missing else []
    if any(_stuck(place) for place in scene.ground.places):
        found.append(_named_stuck(scene))
    if scene.census.open or scene.ground.kept_open:
        found.append(_above(scene))
    return found


def _stuck(place: JudgedPartition) -> bool:
    if place.last_stable_offset is None or place.high_watermark is None:
        return False
    return place.last_stable_offset < place.high_watermark


def _ends(scene: JudgeContext) -> DataFrame:
    """What partitions told: place, at, hw, lso."""
    rows = scene.ground.numbered(scene.history.tables["partitions"])
    hw, lso = F.col("high_watermark").alias("hw"), F.col("last_stable_offset").alias("lso")
    last = F.max(F.struct("at", hw, lso)).alias("last")
    return rows.groupBy("place").agg(last).select("place", "last.*")


def _levels(scene: JudgeContext) -> DataFrame:
    rows = scene.ground.numbered(scene.history.tables["levels"])
    return rows.select(
        "place",
        F.col("at").alias("seen"),
        F.col("high_watermark").alias("top"),
        F.col("last_stable_offset").alias("low"),
    )


def _named_stuck(scene: JudgeContext) -> DataFrame:
    stuck = _ends(scene).where("lso < hw")
    same = _levels(scene).join(F.broadcast(stuck), "place").where("low = lso AND top > low AND seen <= at")
    since = same.groupBy("place").agg(F.min("seen").alias("since"))
    first = F.min(F.struct("start", "pid", "epoch", "txn")).alias("first")
    holder = left_open(scene).groupBy("place").agg(first)
    rows = stuck.join(since, "place", "left").join(holder, "place", "left")
    lasted = F.col("at") - F.col("since")
    how_long = F.when(lasted.isNull(), "for an unknown time").otherwise(say("for %s ms", F.round(lasted).cast("long")))
    who = F.when(F.col("first").isNull(), "no producer that is known").otherwise(say("producer id %s", "first.pid"))
    return findings(
        rows,
        anomaly=F.lit("stuck-lso"),
        detail=say(
            "the last stable offset is %s, below the high watermark %s, %s: held by %s", "lso", "hw", how_long, who
        ),
        txn="first.txn",
        place="place",
        offset="lso",
        producer_id="first.pid",
        epoch="first.epoch",
        lasted_ms=lasted,
    )


def _above(scene: JudgeContext) -> DataFrame:
    first = F.min(F.struct("start", "pid", "epoch", "txn")).alias("first")
    rows = _ends(scene).join(left_open(scene).groupBy("place").agg(first), "place").where("lso > first.start")
    return findings(
        rows,
        anomaly=F.lit("wrong-lso"),
        detail=say(
            "the last stable offset is %s, above the transaction that producer id %s has open from offset %s on",
            *("lso", "first.pid", "first.start"),
        ),
        txn="first.txn",
        place="place",
        offset="first.start",
        producer_id="first.pid",
        epoch="first.epoch",
    )


def _wrong_by_fetch(scene: JudgeContext) -> DataFrame:
    """Fetch and ListOffsets disagree at one and the same high watermark; only where nothing else is to be said."""
    quiet = _ends(scene).where("lso >= hw")
    rows = _levels(scene).join(F.broadcast(quiet), "place").where("seen >= at AND top = hw AND low <> lso")
    one = rows.groupBy("place").agg(F.min(F.struct("seen", "low", "lso", "hw")).alias("one"))
    return findings(
        one,
        anomaly=F.lit("wrong-lso"),
        detail=say("ListOffsets tells %s as the last stable offset, a Fetch after it %s", "one.lso", "one.low"),
        place="place",
        offset=F.least("one.low", "one.lso"),
    )


CHECK = Check(
    name="the-last-stable-offset-moves",
    statement="After settling the last stable offset is at the high watermark, and never above an open transaction.",
    anomalies=("stuck-lso", "wrong-lso"),
    examine=examine,
)

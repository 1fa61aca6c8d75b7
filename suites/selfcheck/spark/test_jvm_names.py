"""What pyspark asks the JVM for by name, it asks once."""

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import functions as F

from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.jvm_names import CLASSES, LookedUpOnce
from harness.spark.session.spark_session import open_session


@dataclass
class JavaClass:
    """Answers like py4j's, and counts what it is asked for."""

    asked: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return lambda *words: (name, *words)


def test_a_method_is_looked_up_when_it_is_first_needed_and_then_no_more() -> None:
    java_class = JavaClass()
    functions = LookedUpOnce(java_class)
    assert [functions.col("a"), functions.lit(1), functions.col("b")] == [("col", "a"), ("lit", 1), ("col", "b")]
    assert java_class.asked == ["col", "lit"]


def test_the_functions_of_a_session_are_looked_up_once() -> None:
    with open_session(name="names") as session:
        assert collect_rows(session.spark.range(3).select(F.sum(F.col("id") + F.lit(1)))) == ((6,),)
        jvm = session.gateway.jvm
    assert {type(getattr(jvm, name)) for name in CLASSES} == {LookedUpOnce}
    assert {"sum", "col", "lit"} <= vars(getattr(jvm, CLASSES[0])).keys()

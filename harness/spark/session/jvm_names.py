"""Names of the JVM that are looked up once.

Whenever a function makes a column, pyspark first asks the JVM what the function's class and its method are
(``pyspark.sql.functions.builtin._get_jvm_function``): two round trips before the one that makes it. A judgement makes
some thousand columns.
"""

from typing import Any

CLASSES = ("org.apache.spark.sql.functions", "functions", "PythonSQLUtils", "PythonUtils")
"""Classes of static methods alone, so that what a name stands for does not change."""


class LookedUpOnce:
    """A class of the JVM that remembers its methods."""

    def __init__(self, java_class: Any) -> None:
        self._java_class = java_class

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._java_class, name)
        setattr(self, name, method)
        return method


def look_up_once(jvm: Any) -> None:
    """Have :data:`CLASSES` remembered by py4j's view of a JVM, which has names set on it before it asks."""
    for name in CLASSES:
        setattr(jvm, name, LookedUpOnce(getattr(jvm, name)))

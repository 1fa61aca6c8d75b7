"""Python functions in Spark's executors: the interpreter and the packages of this process, and no others."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def with_our_python(spark: SparkSession) -> SparkSession:
    """The session; functions that are made after this run in our interpreter and find our packages.

    pyspark would start ``python3`` of the PATH (``SparkContext._do_init``), and a worker's folder is the JVM's.
    """
    context = spark.sparkContext
    context.pythonExec = sys.executable
    context.environment["PYTHONPATH"] = os.pathsep.join(str(Path(each).absolute()) for each in sys.path)
    return spark

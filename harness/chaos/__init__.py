"""Chaos: workloads by several clients while toxics strike, from one seed, recorded for the judge on Spark."""

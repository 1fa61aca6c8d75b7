"""Lies to readers and writers, made by the gate; never drawn by chaos: they prove that the judge finds anomalies."""

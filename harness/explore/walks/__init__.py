"""Walks: drawn by Hypothesis, asked of a running cluster, cut to the shortest that differs."""

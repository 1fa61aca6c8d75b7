"""Faults of links and lanes, made by Toxiproxy."""

"""Rounds of many sessions and releases as one table: a row a round, and what they come to on terminal and page."""

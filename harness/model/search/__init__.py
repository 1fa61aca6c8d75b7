"""The model checked by itself: every order of events in a small scope, against the promises of transactions.

:mod:`~harness.model.search.plain_events` has every event by itself; :mod:`~harness.model.search.reduced_events` leaves
out the orders that lead to the same, which the tests compare with the plain ones.
"""

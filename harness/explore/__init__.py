"""The cells of the model's grid asked of a running cluster, many at a time, and compared with the model.

A cell's path is sent request by request, some hundred cells side by side over few connections; then its question is
asked, and what brokers keep and show is looked at. What was answered and seen is put into the model's own words
(:mod:`harness.explore.cell_identities`), and :mod:`harness.explore.comparison` compares it, without a network.
"""

"""The end of a producer id: a transaction that ends in the last epoch goes on under another id."""

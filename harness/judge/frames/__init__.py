"""DataFrames that several checks share: segments, transactions, views, fences, suspected records. For checks alone."""

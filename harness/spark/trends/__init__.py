"""The table of rounds that ``fencepost trends`` makes: partitioned Parquet, and what its rounds come to."""

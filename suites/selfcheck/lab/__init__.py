"""The lab without a broker: where a stimulus has its partitions and ids, what it waits for, whom it believes."""

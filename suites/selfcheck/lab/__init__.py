"""The lab: where a stimulus has its partitions and ids, and what evidence tells of them."""

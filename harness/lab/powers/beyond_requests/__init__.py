"""Powers beyond requests: what brokers count, and the tools that the target brings."""

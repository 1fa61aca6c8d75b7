"""DescribeProducers."""

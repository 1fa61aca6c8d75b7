"""DescribeTransactions."""

"""Words of checks for one kind of evidence each, beside those of :mod:`harness.contract.expect`."""

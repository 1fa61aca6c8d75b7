"""Words about command line tools, for steps by hand and for checks."""

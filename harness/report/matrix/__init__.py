"""One page about several runs: requirement by requirement, with what changes from one run to the next."""

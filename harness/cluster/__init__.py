"""From a target's name to running brokers with every link behind a proxy: targets, topology, backends, powers."""

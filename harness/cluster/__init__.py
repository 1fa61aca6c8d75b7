"""From a target's name to running brokers with a proxy on every link. Used by faults, clients, lab, chaos and app."""

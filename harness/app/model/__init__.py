"""``fencepost explore`` and ``fencepost compare``: the model of the protocol beside running Kafkas."""

"""``fencepost clients`` and ``fencepost client``: the contract of clients in pytest, and the check of an adapter."""

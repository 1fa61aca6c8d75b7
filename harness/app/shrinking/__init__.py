"""``fencepost shrink``: a red round made as small as it can be."""

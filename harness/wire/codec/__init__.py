"""kio's schemas applied: entities from and to bytes, Python values and JSON. Used inside wire only."""

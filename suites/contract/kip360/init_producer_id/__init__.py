"""InitProducerId with and without an identity."""

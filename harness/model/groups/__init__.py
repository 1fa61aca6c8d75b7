"""The model of a consumer group's offsets, as far as transactions commit them."""

"""Records of `__transaction_state`: layouts and fields."""

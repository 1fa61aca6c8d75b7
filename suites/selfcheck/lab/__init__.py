"""The lab, tried without a broker: what it waits for, how long, and whom it believes."""

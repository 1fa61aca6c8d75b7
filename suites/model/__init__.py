"""The model of the transaction protocol, checked by itself; ``make model`` tells what was looked at."""

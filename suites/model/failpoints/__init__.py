"""How many of the contract's failpoints the grid finds that was told nothing of them."""

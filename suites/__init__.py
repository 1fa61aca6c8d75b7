"""What is judged: the contract, its known failures, and the suite tried on itself."""

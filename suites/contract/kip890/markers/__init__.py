"""What partition leaders take as a marker."""

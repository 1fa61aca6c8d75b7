"""What happens beside requests, and messages that are still under way when another request comes."""

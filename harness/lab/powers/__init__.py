"""What a stimulus can do beyond one producer and one observer, each in a module of its own."""

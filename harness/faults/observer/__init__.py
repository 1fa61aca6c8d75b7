"""What a toxic is told over the lane that carries no toxic."""

"""What a stimulus may do beyond requests and held links; each a short word of the lab."""

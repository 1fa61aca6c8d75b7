"""Histories by hand of a model: a sound broker, clients with every legal doubt, and each anomaly planted by itself."""

"""Traces of one transactional id against the model: is there an order of the unsure requests that explains it all?"""

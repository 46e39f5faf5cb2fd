"""Comprehensions and generator expressions."""

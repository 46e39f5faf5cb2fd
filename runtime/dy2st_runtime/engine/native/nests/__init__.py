"""Fuses operators into groups, and writes the loops that they become."""

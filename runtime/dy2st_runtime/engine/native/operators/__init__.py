"""Operators that are code of their own, outside of loop nests: `writers.py` is their table."""

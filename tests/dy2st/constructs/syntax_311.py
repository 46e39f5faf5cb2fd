"""Syntax of Python 3.11: `except*`, and stars in indices."""

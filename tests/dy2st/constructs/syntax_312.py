"""Syntax of Python 3.12: type parameters, `type`, nested f-strings."""

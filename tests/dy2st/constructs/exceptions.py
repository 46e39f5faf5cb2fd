"""Exceptions and contexts: `try`, `with`, `raise`, `assert`."""

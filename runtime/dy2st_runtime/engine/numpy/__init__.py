"""The embedded engine: a Program as straight-line Python over NumPy calls."""

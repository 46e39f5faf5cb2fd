"""Well-known models in plain dy2st code, one a file; `models.py` has a table of them."""

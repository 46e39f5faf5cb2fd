"""Asks of calls how long each operator takes, and where two of them part."""

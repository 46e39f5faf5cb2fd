"""Jumps: `break`, `continue` and `return`, out of whatever they stand in."""

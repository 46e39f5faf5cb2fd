"""Tracing a function: it runs once, and all that it does to objects passes through one Trace."""

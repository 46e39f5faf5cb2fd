"""Rows: what functions in C and methods of built-in types do in a trace."""

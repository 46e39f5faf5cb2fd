"""The protocol: a closed set of functions, which the traced form of a function calls."""

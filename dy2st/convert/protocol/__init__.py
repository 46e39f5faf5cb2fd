"""What the traced form of a function calls: a closed set of functions."""

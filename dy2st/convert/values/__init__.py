"""Takes values apart into leaves, and finds the one value that stands for two of them."""

"""What a value is made of, and the one value that stands for two of them."""

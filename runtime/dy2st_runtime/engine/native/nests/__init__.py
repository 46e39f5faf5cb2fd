"""Which operators are computed together, and the loops that they become."""

"""Programs for C: an object file, a header, and an example of how they are called."""

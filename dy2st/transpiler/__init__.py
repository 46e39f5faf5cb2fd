"""The source of functions: found, analysed, and rewritten in Python's own terms; also as text."""

"""Reverse mode: gradients of a Program as operators, in the same Program or in one of their own."""

"""Expressions: `and`, `or`, `not`, `in`, chains, conditional expressions, `:=`."""

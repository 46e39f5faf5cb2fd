"""Rows: what functions in C and methods of built-in types do in a trace."""

from dy2st.heart.kinds import builtins_, list_methods, math_, numbers_, reductions

__all__ = ["builtins_", "list_methods", "math_", "numbers_", "reductions"]

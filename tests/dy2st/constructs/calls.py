"""Builtins on tensors, and functions that call back."""

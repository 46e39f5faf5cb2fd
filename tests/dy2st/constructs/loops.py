"""Loops: `while`, `for`, their `else`, what they carry."""

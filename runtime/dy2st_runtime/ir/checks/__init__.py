"""Checks what must hold in a Program, and words the errors where it does not."""

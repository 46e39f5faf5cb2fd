"""Programs as text, read back, and compared."""

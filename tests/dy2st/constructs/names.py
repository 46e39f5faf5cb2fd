"""Names: `del`, annotations, imports, `exec`, `locals()`."""

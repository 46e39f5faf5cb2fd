"""The heart: what a function does is seen while it is traced, not guessed."""

"""What a converted function does to this goes unseen, as what it does to our own objects."""

from __future__ import annotations


class Unseen:
    """Counts how often Python has run some code while it was traced."""

    __module__ = "dy2st.of_tests"

    def __init__(self) -> None:
        self.count = 0

    def note(self) -> None:
        """Count once more."""
        self.count += 1

"""A Program as steps: where each value lies, and the code of each step."""

"""What is lost when it is converted, one by one, and why."""

from __future__ import annotations

_CLOSURE = "it counts the cells of a closure, and what dy2st calls is among them"
_CODE = "it asserts on the bytes or the numbers of a function's own code object"
_FRAMES = "it looks at the frames on the stack, and dy2st's own stand between the user's"
_DEPTH = "it needs every call of the recursion limit, and a converted call takes several"

# (suite, test): the reason.
LOST: dict[tuple[str, str], str] = {}

# (suite, function): the reason.
REFUSED: dict[tuple[str, str], str] = {}

"""What is lost when it is converted, one by one, and why."""

from __future__ import annotations

_CODE = "it asserts on the numbers and constants of a function's own code object"
_LINES = (
    "it counts line events: a rewritten `match` passes a line of its cases again, or not at all"
)
_DEPTH = (
    "it leaves ten calls up to the recursion limit, fewer than the choice of what to call takes"
)
_TABLE = "it puts a code object without lines into a function, and its text is converted with lines"

# (suite, test): the reason.
LOST: dict[tuple[str, str], str] = {
    ("stdlib", "test.test_dis.BytecodeTests.test_info"): _CODE,
    ("stdlib", "test.test_dis.CodeInfoTests.test_code_info"): _CODE,
    ("stdlib", "test.test_dis.CodeInfoTests.test_show_code"): _CODE,
    ("language", "test.test_exceptions.ExceptionTests.test_recursion_in_except_handler"): _DEPTH,
    ("language", "test.test_exceptions.PEP626Tests.test_missing_lineno_shows_as_none"): _TABLE,
    ("language", "test.test_patma.TestTracing.test_default_capture"): _LINES,
    ("language", "test.test_patma.TestTracing.test_default_wildcard"): _LINES,
    ("language", "test.test_patma.TestTracing.test_no_default"): _LINES,
    ("language", "test.test_patma.TestTracing.test_unreachable_code"): _LINES,
}

# (suite, function): the reason.
REFUSED: dict[tuple[str, str], str] = {}

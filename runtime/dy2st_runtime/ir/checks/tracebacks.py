"""Shows a failed operator in the traceback by the user's line."""

from __future__ import annotations

import ast
import sys
from types import CodeType, TracebackType

from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.location import entries_of
from dy2st_runtime.ir.program import Operator


def show_operator(
    error: BaseException, operator: Operator, ran: CodeType | TracebackType, program: str
) -> None:
    """Say which operator failed, in a note and by the user's line in the traceback.

    `ran` is our code that ran the operator, or its entry in the traceback: the line stands behind
    its frame. A call of a function is no operator that fails: it is shown by its line alone.
    """
    place = operator.location
    is_call = operator.name == CALL
    is_users = lookup(operator.name).effect is Effect.VISIBLE
    if sys.version_info >= (3, 11) and not is_call:
        what = "raised by the Program at" if is_users else f"in the operator {operator.name!r} of"
        error.add_note(f"{what} {place}")
    if isinstance(ran, TracebackType):
        entries = [ran]
    else:
        entries = [e for e in entries_of(error.__traceback__) if e.tb_frame.f_code is ran]
    if place is None or not entries:
        return
    # What a traceback shows for an error that arises at a place.
    tree = ast.parse("def f(): raise error")  # a function begins where its code says, a module at 1
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = place.line
            node.col_offset = node.end_col_offset = -1  # unknown: no caret
    module = compile(tree, place.traced_file, "exec")
    made = next(one for one in module.co_consts if isinstance(one, CodeType))
    code = made.replace(co_name=program)
    if sys.version_info >= (3, 11):  # what IPython and debuggers show
        code = code.replace(co_qualname=program)
    try:
        exec(code, {"error": RuntimeError()})
    except RuntimeError as error:
        last = entries_of(error.__traceback__)[-1]
    shown = TracebackType(None, last.tb_frame, last.tb_lasti, place.line)
    # What an assertion or `raise` of the user does is no fault inside the kernel.
    shown.tb_next = None if is_users and not is_call else entries[-1].tb_next
    entries[-1].tb_next = shown

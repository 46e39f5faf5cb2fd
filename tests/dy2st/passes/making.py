"""Passes made of functions, for tests of what watches passes."""

from __future__ import annotations

from dy2st.passes import function_pass


def made(function, name="Made", **facts):
    """A pass that does something to a Program in place."""

    def run(program, module, context):
        function(program)
        return program

    return function_pass(opt_level=0, name=name, **facts)(run)

"""A pass that notes that it ran."""

from __future__ import annotations

from dy2st.passes import function_pass


def noting(log, name, level=0, required=(), changes=True):
    """A pass that changes nothing and notes that it ran."""

    @function_pass(opt_level=level, name=name, required=required, changes=changes)
    def run(program, module, context):
        log.append(name)
        return program

    return run

"""The source of functions: found, analysed, rewritten and lowered to the traced form that runs.

`rewrites.py` takes jumps and `match` out, `analysis.py` finds what statements read and bind, and
`expressions.py`, `statements.py`, `control_flow.py` and `functions.py` lower one kind of syntax
each, by the tables at their ends. What the lowered code calls stands in `convert/dy2static.py`;
what that does in a trace, in `convert/protocol`.
"""

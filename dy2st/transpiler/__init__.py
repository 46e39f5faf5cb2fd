"""The source of functions: found, analysed, rewritten and lowered to the traced form that runs.

Each file lowers one kind of statement or expression. What the lowered code calls for statements
stands in `dy2st/convert/dy2static.py`, all else in `dy2st/convert/dy2static.py`; what that does in
a trace in `dy2st/convert/protocol`, where `ifelse.py`, `loops.py`, `try_with.py` and `match.py`
have the same names.
"""

"""The source of functions: found, analysed, rewritten and lowered to the traced form that runs.

Each file lowers one kind of statement or expression; the functions that the lowered code calls
stand in `dy2st/convert/protocol`, where `ifelse.py`, `loops.py`, `try_with.py` and `match.py` have
the same names.
"""

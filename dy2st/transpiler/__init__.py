"""Python functions rewritten so that each call and each choice is made at run time, by value."""

from dy2st.transpiler.context import StatementInfo
from dy2st.transpiler.converted import (
    Converted,
    code_after,
    is_converted,
    statement_info,
    transpile,
)
from dy2st.transpiler.pipeline import PIPELINE
from dy2st.transpiler.reasons import REASONS, Reason
from dy2st.transpiler.rewrites.relays import MOST_RELAYED, Relays
from dy2st.transpiler.source import lines_of

__all__ = [
    "MOST_RELAYED",
    "PIPELINE",
    "REASONS",
    "Converted",
    "Reason",
    "Relays",
    "StatementInfo",
    "code_after",
    "is_converted",
    "lines_of",
    "statement_info",
    "transpile",
]

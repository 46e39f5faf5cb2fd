"""What is known of each type of Python: `info(kind)` is its row, a family of types has a file."""

from dy2st.convert.types import (  # noqa: F401  each gives its types their rows
    constants,
    containers,
    functions,
    hidden,
    objects,
)
from dy2st.convert.types.objects import bare
from dy2st.convert.types.row import TypeInfo, info, kinds_of, row, same, same_items

__all__ = ["TypeInfo", "bare", "info", "kinds_of", "row", "same", "same_items"]

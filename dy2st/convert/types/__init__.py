"""What is known of each type of Python: `info(kind)` is its row, in two files, by families."""

from dy2st.convert.types import (  # noqa: F401  each gives its types their rows
    objects,
    values,
)
from dy2st.convert.types.objects import bare
from dy2st.convert.types.row import TypeInfo, info, kinds_of, row, same, same_items

__all__ = ["TypeInfo", "bare", "info", "kinds_of", "row", "same", "same_items"]

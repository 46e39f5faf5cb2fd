"""Objects with attributes."""

from __future__ import annotations

from dy2st.convert.types.row import row
from dy2st.convert.values.special import Unbound

row(object)
row(Unbound, is_single=True)

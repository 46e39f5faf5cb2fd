"""Stands for `paddle._legacy_C_ops` by name alone, as `paddle._C_ops` does for its own."""

from dy2st.paddle._C_ops import __getattr__ as __getattr__

"""`paddle._legacy_C_ops` by name alone, as `paddle._C_ops`."""

from dy2st.paddle._C_ops import __getattr__ as __getattr__

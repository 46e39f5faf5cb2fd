"""The traced form of a function: its source, with every touch of an object a call."""

from dy2st.convert.form.compile import is_part
from dy2st.convert.form.traced import TracedForm, traced_form

__all__ = ["TracedForm", "is_part", "traced_form"]

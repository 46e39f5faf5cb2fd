"""The traced form of a function: its source, with every touch of an object a call."""

from dy2st.convert.form.compile import is_part
from dy2st.convert.form.lower import REWRITES, code_of, left_as_python
from dy2st.convert.form.traced import TracedForm, traced_form

__all__ = ["REWRITES", "TracedForm", "code_of", "is_part", "left_as_python", "traced_form"]

"""The traced form of a function: its source, with every touch of an object a call."""

from dy2st.heart.form.traced import TracedForm, traced_form

__all__ = ["TracedForm", "traced_form"]

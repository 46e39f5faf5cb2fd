"""What rewritten code calls when it runs: the choice between Python and operators, by value."""

from dy2st.late import late_names

__getattr__ = late_names(
    __name__,
    {
        "HELPERS": "dy2st.convert.call",
        "Undefined": "dy2st.convert.undefined",
        "convert_call": "dy2st.convert.call",
    },
)

__all__ = ["HELPERS", "Undefined", "convert_call"]

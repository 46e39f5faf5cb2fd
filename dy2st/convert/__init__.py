"""What rewritten code calls when it runs: the choice between Python and operators, by value."""

from typing import TYPE_CHECKING

from dy2st_runtime.late import late_names

if TYPE_CHECKING:
    from dy2st.convert.call import HELPERS, convert_call
    from dy2st.convert.undefined import Undefined
else:
    __getattr__ = late_names(
        __name__,
        {
            "HELPERS": "dy2st.convert.call:HELPERS",
            "Undefined": "dy2st.convert.undefined:Undefined",
            "convert_call": "dy2st.convert.call:convert_call",
        },
    )

__all__ = ["HELPERS", "Undefined", "convert_call"]

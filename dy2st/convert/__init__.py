"""What rewritten code calls when it runs: the choice between Python and operators, by value."""

from dy2st.convert.call import HELPERS, convert_call
from dy2st.convert.undefined import Undefined

__all__ = ["HELPERS", "Undefined", "convert_call"]

"""Gives what converted code calls: `convert_ifelse`, `convert_while_loop`, `convert_call`, ...

>>> from dy2st.jit.dy2static import convert_ifelse
>>> convert_ifelse(True, lambda: "yes", lambda: "no")
'yes'
"""

import sys

from dy2st.convert import dy2static
from dy2st.convert.dy2static import *  # noqa: F403

# One module under two names: a trace looks its functions up there, and who sets one here sets it.
sys.modules[__name__] = dy2static

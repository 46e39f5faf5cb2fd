"""Files of rows whose syntax this Python does not know are not read."""

from __future__ import annotations

import sys

from tests.dy2st.constructs.sections import SINCE

collect_ignore = [
    f"{name}.py" for version, names in SINCE.items() if sys.version_info < version for name in names
]

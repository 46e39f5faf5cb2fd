"""The command `python -m dy2st.distributed.launch`: `launching` has all that it does."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import NoReturn

from dy2st.paddle.distributed.launching import main


class _Command(ModuleType):
    """The module, which takes the name of the function `launch` where it is imported."""

    def __call__(self) -> NoReturn:
        """As `launch`."""
        sys.exit(main(sys.argv[1:]))


sys.modules[__name__].__class__ = _Command

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

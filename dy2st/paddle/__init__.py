"""All of PaddlePaddle's names: `import dy2st.paddle as paddle` is what ported models write.

They are the names of `dy2st`. Name spaces that are not needed to write and convert a model stand
in this folder; `dy2st.vision` is another name of `dy2st.paddle.vision`.
"""

import sys
from typing import TYPE_CHECKING, Any

from dy2st.paddle import aliases
from dy2st.paddle.version import commit, full_version

if TYPE_CHECKING:
    from dy2st import *  # noqa: F403

__version__, __git_commit__ = full_version, commit  # of the release whose names these are
aliases.install()


def __getattr__(name: str) -> Any:
    value = getattr(sys.modules["dy2st"], name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(sys.modules["dy2st"])

"""Operators by family, as PaddlePaddle's files have them: all of them are names of `dy2st`.

from dy2st.tensor.creation import zeros
import dy2st.tensor.manipulation as manipulation
"""

from typing import TYPE_CHECKING

from dy2st.mirrors import mirrors, names_of

_SOURCES = ["dy2st", "dy2st.linalg"]

mirrors(
    __name__,
    "array attribute creation layer_function_generator linalg logic manipulation math ops "
    "search stat to_string",
    _SOURCES,
)
mirrors(__name__, "random", [*_SOURCES, "dy2st.tensor.drawn"])

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _SOURCES)

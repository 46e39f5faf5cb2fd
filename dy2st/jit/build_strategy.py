"""Wishes of PaddlePaddle's compilers, as scripts give them to to_static."""

from __future__ import annotations


class BuildStrategy:
    """Wishes about fusions and compilers: kept, and without effect on what is computed.

    `to_static(build_strategy="inference")` names passes of dy2st.

    >>> strategy = BuildStrategy()
    >>> strategy.build_cinn_pass = True
    """

    def __init__(self) -> None:
        """No wishes."""
        self.build_cinn_pass = False

"""Refuses weights that would have to be fetched."""

from __future__ import annotations

from dy2st_runtime.errors import ArgumentError


def refuse_pretrained(name: str, pretrained: object) -> None:
    """ArgumentError if weights are asked for: nothing is ever fetched from a network."""
    if pretrained:
        raise ArgumentError(
            f"{name}(pretrained=True): nothing is downloaded; load a file of PaddlePaddle's "
            f"weights: model = {name}(); model.set_state_dict(dy2st.load('{name}.pdparams'))"
        )

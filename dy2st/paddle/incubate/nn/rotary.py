"""Takes positions as angles by which pairs of numbers are rotated (Su 2021)."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F


def fused_rotary_position_embedding(
    q: Any,
    k: Any = None,
    v: Any = None,
    sin: Any = None,
    cos: Any = None,
    position_ids: Any = None,
    use_neox_rotary_style: bool = True,
    time_major: bool = False,
    rotary_emb_base: float = 10000.0,
) -> tuple[Any, Any, Any]:
    """q, k and v with each pair rotated by the angle of its position; None stays None.

    q, k, v: (batch, time, heads, size), or (time, batch, heads, size) with `time_major`.
    sin, cos: of (time, size) numbers, from base**(-2 * i / size) * position if they are not given.
    position_ids: (batch, time), which rows of sin and cos are meant.
    Pairs are neighbours with `use_neox_rotary_style`, else entries of the two halves, as
    PaddlePaddle names them.

    >>> import dy2st
    >>> x = dy2st.ones([1, 2, 1, 2])
    >>> print(fused_rotary_position_embedding(x)[0][0, :, 0].round(2))
    [[ 1.    1.  ]
     [-0.3   1.38]]
    """
    if (sin is None) != (cos is None) or (sin is None and position_ids is not None):
        raise ArgumentError("give sin and cos both, and position_ids with them alone")
    time, size = q.shape[0 if time_major else 1], q.shape[-1]
    if sin is None:
        # all angles, one for both of a pair: (time, size)
        speeds = F.exp(
            F.cast(F.arange(0, size, 2), "float32") * (-math.log(rotary_emb_base) / size)
        )
        angles = F.unsqueeze(F.cast(F.arange(time), "float32"), 1) * speeds
        if use_neox_rotary_style:
            wide = F.reshape(F.stack([angles, angles], axis=-1), [time, size])
        else:
            wide = F.concat([angles, angles], axis=-1)
        sin, cos = F.cast(F.sin(wide), q.dtype), F.cast(F.cos(wide), q.dtype)
    sin, cos = (_placed(wave, position_ids, time, size, time_major) for wave in (sin, cos))

    def rotated(x: Any) -> Any:
        if use_neox_rotary_style:  # (a, b, c, d) -> (-b, a, -d, c)
            first, second = x[..., ::2], x[..., 1::2]
            swapped = F.reshape(F.stack([-second, first], axis=-1), list(x.shape))
        else:  # (a, b, c, d) -> (-c, -d, a, b)
            first, second = F.split(x, 2, -1)
            swapped = F.concat([-second, first], axis=-1)
        return x * cos + swapped * sin

    found = [None if x is None else rotated(x) for x in (q, k, v)]
    return found[0], found[1], found[2]


def _placed(wave: Any, position_ids: Any, time: Any, size: int, time_major: bool) -> Any:
    """sin or cos beside x: of the rows that are meant, with an axis for heads."""
    rows = F.reshape(wave, [-1, size])
    if position_ids is None:
        chosen = F.unsqueeze(rows[:time], 0)
    else:
        flat = F.gather(rows, F.flatten(position_ids))
        chosen = F.reshape(flat, [*position_ids.shape, size])
    return F.unsqueeze(F.transpose(chosen, [1, 0, 2]) if time_major else chosen, 2)

"""Defines `reshard`, which says how a tensor lies on a mesh of devices from here on."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import Kind, Sample, View, apply, define
from dy2st_runtime.ir.attribute_kinds import AttributeKind
from dy2st_runtime.ir.definition import Scales
from dy2st_runtime.ir.placement import REPLICATE, Mesh, Placements, are_placements, is_mesh, misfit

_MESH = AttributeKind("a mesh of named axes of devices", lambda value, _: is_mesh(value))
_PLACEMENTS = AttributeKind(
    "a placement for each axis of the mesh", lambda value, _: are_placements(value)
)


def _infer(x: Any, mesh: Mesh, placements: Placements) -> Any:
    why = misfit(mesh, placements, x.rank)
    if why is not None:
        raise ShapeError(f"reshard: {why}")
    return x


def _gradient(g: Any, y: Any, x: Any, mesh: Mesh, placements: Placements) -> Any:
    """A gradient lies as its tensor does; what is still to be added up in x is whole in g."""
    whole = tuple(REPLICATE if text.startswith("partial") else text for text in placements)
    return apply("reshard", g, mesh=mesh, placements=whole)


define(
    "reshard",
    takes_complex=True,
    doc="The same value, on the devices of a mesh as the placements say.",
    inputs="x",
    attributes={"mesh": _MESH, "placements": _PLACEMENTS},
    scales=Scales.ALL,
    kind=Kind.INJECTIVE,  # element by element, but placements name axes
    view=View.SAME,
    put_back=lambda x, y, place, **_: y,
    infer=_infer,
    kernel=lambda x, mesh, placements: x,
    gradient=_gradient,
    samples=(
        Sample(((4, 2),), {"mesh": (("dp", 2),), "placements": ("shard 0",)}),
        Sample(
            ((4, 2),),
            {"mesh": (("dp", 2), ("mp", 2)), "placements": ("replicate", "shard 0")},
            ("int64",),
        ),
    ),
)

"""Reads layers that are there already: a folder with OPU_IR.json, or that file alone."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dy2st.model_files import BadInput
from dy2st.targets.opu.compiled_file import Signature
from dy2st.targets.opu.ir_file import NAME, read_ir
from dy2st.targets.opu.network import Network


@dataclass(frozen=True)
class LayerFile:
    """Where layers stand in a file, and what they are called in reports."""

    title: str
    path: Path

    def read(self, arrays: bool = True) -> Network:
        """The layers; without `arrays` none need be there."""
        return read_ir(self.path, arrays)


# Options that choose how a model becomes layers, with the value that leaves the choice open.
_OF_MODELS: dict[str, Any] = {
    **{"program": None, "dim": [], "unmapped": "refuse", "leaky": "approximate"},
    **{"padding": "exact", "columns": "host"},
}


def place_of_layers(name: str) -> Path | None:
    """The file of layers that a name means, itself or in a folder; None of a saved model.

    BadInput for a folder without layers, unless a saved model lies beside it.
    """
    path = Path(name)
    if not path.is_dir():
        return path if path.suffix == ".json" and path.is_file() else None
    if (path / NAME).is_file():
        return path / NAME
    if path.name and path.with_name(f"{path.name}.mlir").is_file():
        return None
    raise BadInput(
        f"{path} has no {NAME}, so it is no compiled folder; there is no saved model {path}.mlir"
    )


def layer_file_of(options: argparse.Namespace) -> LayerFile | None:
    """The layers that `options.model` names, None of a saved model.

    BadInput for an option that chooses what the layers have decided already.
    """
    path = place_of_layers(options.model)
    if path is None:
        return None
    if options.calib or options.random_calib:
        raise BadInput(f"{path} has its fraction lengths: calibration data goes with a saved model")
    for name, default in _OF_MODELS.items():
        if getattr(options, name, default) != default:
            raise BadInput(f"{path} has its layers already: --{name} goes with a saved model")
    return LayerFile(path.absolute().parent.name if path.name == NAME else path.stem, path)


def signatures(network: Network) -> list[Signature]:
    """What the inputs of layers look like to a user: one image, channels first."""
    found = []
    for place, (size, order) in enumerate(
        zip(network.input_sizes, network.input_orders, strict=True)
    ):
        _, high, wide, channels = size
        forms = {
            "NHWC": (high, wide, channels),
            "NCL": (channels, high * wide),
            "NC": (channels * high * wide,),
        }
        found.append(Signature(f"input_{place}", forms.get(order, (channels, high, wide))))
    return found


__all__ = ["LayerFile", "layer_file_of", "place_of_layers", "signatures"]

"""The quantiser: fraction lengths and integers of a Network, and how good they are."""

from dy2st.targets.opu.quantiser.calibrate import Calibration, calibrate
from dy2st.targets.opu.quantiser.fraction_lengths import check_legal, dequantised, quantised
from dy2st.targets.opu.quantiser.groups import constraint_groups
from dy2st.targets.opu.quantiser.quantise import MODES, quantise
from dy2st.targets.opu.quantiser.report import (
    LayerFigures,
    QuantisationReport,
    input_fraclen,
    quantised_inputs,
)

__all__ = [
    "MODES",
    "Calibration",
    "LayerFigures",
    "QuantisationReport",
    "calibrate",
    "check_legal",
    "constraint_groups",
    "dequantised",
    "input_fraclen",
    "quantise",
    "quantised",
    "quantised_inputs",
]

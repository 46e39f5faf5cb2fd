"""torch's modules and exported programs become Layers.

Read in this order: `loading`, `exporting`, `sizes`, `graphs`, `table`, `rows`.

torch is imported in `exporting` alone, and only when a module is given: rows know ATen's operators
by name, and read the nodes of an exported program as they are.
"""

from dy2st.importers.torch.loading import from_torch

__all__ = ["from_torch"]

"""PaddlePaddle's inference models become Programs: `.json` of PIR, `.pdmodel`, and `.pdiparams`.

Read in this order: `graph.py` (what both forms have in common), `pir.py` and `program_desc.py` (the
two forms; `wire.py` and `old_names.py` belong to the latter), `parameters.py`, `building.py` (a
Program of a graph) and `rows` (what each operator means).
"""

from dy2st.importers.paddle.reading import PaddleModel, files_of, read

__all__ = ["PaddleModel", "files_of", "read"]

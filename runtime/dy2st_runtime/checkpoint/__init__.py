"""Checkpoints: state dicts and other nested data, saved, and loaded from several libraries.

`save` writes safetensors, with containers, numbers and texts as JSON in the metadata
(`structure.py`); names that end in `.pdparams` or `.pdopt` give a pickle of data alone, as
PaddlePaddle writes it (`paddle_writer.py`). `load` asks the content what a file is, and reads the
pickles of PaddlePaddle and torch too. No code of a file can run, because the reader has no way to
run any: `pickle_machine.py` interprets the opcodes, `array_rules.py` and `torch_file.py` say which
calls make arrays, and everything else is refused. Nothing falls back to pickle. Memory follows the
size of the file: containers are at most 100 deep, and may not unfold to much more than the file has
objects; views lie inside their storage.
"""

from dy2st_runtime.checkpoint.loading import load
from dy2st_runtime.checkpoint.saving import save

__all__ = ["load", "save"]

"""Inference models of PaddlePaddle's, loaded and run as scripts for it do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.importers.paddle import files_of
from dy2st.importers.paddle.reading import PaddleModel, read
from dy2st_runtime.errors import ArgumentError, MissingFile, SpecError
from dy2st_runtime.io import LoadedModel


class InferenceProgram:
    """A loaded model with the names of its inputs and outputs; `Executor.run` runs it."""

    def __init__(self, model: PaddleModel, engine: str | None = None):
        """Make its parameters tensors."""
        self.layer = LoadedModel([model.program], model.arrays, engine)
        self.inputs, self.outputs = model.inputs, model.outputs

    def run(self, feed: Mapping[str, Any]) -> list[Any]:
        """The outputs for arrays by the names of the inputs; SpecError if names do not fit."""
        missing = [name for name in self.inputs if name not in feed]
        unknown = [name for name in feed if name not in self.inputs]
        if missing or unknown:
            raise SpecError(
                f"the model takes {', '.join(self.inputs)}; missing: {', '.join(missing) or '-'}, "
                f"unknown: {', '.join(unknown) or '-'}"
            )
        given = [feed[name] for name in self.inputs]
        found = self.layer(*(np.asarray(x) if isinstance(x, (list, tuple)) else x for x in given))
        return list(found) if isinstance(found, (list, tuple)) else [found]


class Executor:
    """Runs what `load_inference_model` gives; other programs are not made by hand here.

    See `load_inference_model` for a run.

    >>> exe = dy2st.static.Executor()
    >>> exe.close()
    """

    def __init__(self, place: Any = None):
        """Take a place, which says nothing: the engine runs the model."""

    def run(
        self,
        program: Any = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Sequence[Any] | None = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Any = None,
        return_numpy: bool = True,
        **_: Any,
    ) -> list[Any]:
        """The outputs that `fetch_list` names, all without it; tensors if `return_numpy` is False.

        `feed` has arrays by the names of the inputs. Raises ArgumentError for other programs,
        SpecError for names that the model does not have.

        >>> dy2st.static.Executor().run(None)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        dy2st_runtime.errors.ArgumentError: Executor runs what load_inference_model gives...
        """
        if not isinstance(program, InferenceProgram):
            raise ArgumentError(
                "Executor runs what load_inference_model gives; put @to_static on a function, and "
                "call it"
            )
        outputs = dict(zip(program.outputs, program.run(feed or {}), strict=True))
        names = program.outputs if fetch_list is None else list(fetch_list)
        unknown = [name for name in names if name not in outputs]
        if unknown:
            raise SpecError(f"the model has the outputs {', '.join(outputs)}, not {unknown}")
        return [outputs[name].numpy() if return_numpy else outputs[name] for name in names]

    def close(self) -> None:
        """Nothing is held."""


def load_inference_model(
    path_prefix: str | None,
    executor: Any = None,
    *,
    model_filename: str | None = None,
    params_filename: str | None = None,
    engine: str | None = None,
    **unknown: Any,
) -> list[Any]:
    """[program, names of inputs, names of outputs] of files that PaddlePaddle's jit.save wrote.

    `exe.run(program, feed={name: array}, fetch_list=outputs)` runs it, by an `Executor()`. Raises
    FormatError for damaged files, MissingFile, and UnknownOperators with all operators that are not
    read.

    >>> program, inputs, outputs = dy2st.static.load_inference_model("net")
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.MissingFile: there is no net.json, and no net.pdmodel
    """
    if unknown or not path_prefix:
        what = ", ".join(unknown) or "a model in memory"
        raise ArgumentError(f"load_inference_model has no {what}: give the path of the files")
    found = model_files(path_prefix, model_filename, params_filename)
    program = InferenceProgram(read(*found), engine)
    return [program, list(program.inputs), list(program.outputs)]


def model_files(
    path: Any, model_filename: str | None = None, params_filename: str | None = None
) -> tuple[Path, Path | None]:
    """The two files of a model, under a prefix or in a folder; MissingFile if there is none."""
    if model_filename is not None:
        folder = Path(path)
        names = model_filename, params_filename
        model, params = (None if name is None else folder / name for name in names)
        assert model is not None
        return model, params or model.with_suffix(".pdiparams")
    found = files_of(path)
    if found is None:
        text = os.fspath(path)
        raise MissingFile(f"there is no {text}.json, and no {text}.pdmodel")
    return found


__all__ = ["Executor", "InferenceProgram", "load_inference_model", "model_files"]

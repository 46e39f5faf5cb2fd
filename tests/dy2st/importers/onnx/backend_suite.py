"""ONNX's own backend suite through the importer: `python -m tests.dy2st.importers.onnx.backend_suite`.

    ... backend_suite [-c plain,inference,saved,native] [-k TEXT] [-v] [-l]

prints how many cases pass, and the reasons of the others in groups. A case passes if all outputs
have the dtypes and shapes of those stored, and values as near as the suite asks.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import tempfile
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from dy2st.importers.onnx import load, program_of
from dy2st.importers.recording import layer_of
from dy2st.passes import Module, PassContext, Sequential, find
from dy2st_runtime import io

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
CONFIGURATIONS = ("plain", "inference", "saved", "native")


@dataclass(frozen=True)
class Case:
    """One model, its inputs and the outputs that it must give."""

    kind: str
    name: str
    model: bytes
    sets: tuple[Any, ...]
    rtol: float
    atol: float

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.name}"


@cache
def cases() -> dict[str, Case]:
    """All cases that need no download, by kind and name."""
    from onnx.backend.test.loader import load_model_tests

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in KINDS:
            for one in load_model_tests(kind=kind):
                case = _of_folder(kind, one) if one.model_dir else _in_memory(kind, one)
                found[case.key] = case
    return found


def _in_memory(kind: str, one: Any) -> Case:
    sets = tuple(([*map(_array, ins)], [*map(_array, outs)]) for ins, outs in one.data_sets)
    return Case(kind, one.name, one.model.SerializeToString(), sets, one.rtol, one.atol)


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _of_folder(kind: str, one: Any) -> Case:
    with open(os.path.join(one.model_dir, "model.onnx"), "rb") as file:
        data = file.read()
    graph = onnx.load_from_string(data).graph
    sets = []
    for folder in sorted(glob.glob(os.path.join(one.model_dir, "test_data_set*"))):
        both = []
        for what, infos in (("input", graph.input), ("output", graph.output)):
            count = len(glob.glob(os.path.join(folder, f"{what}_*.pb")))
            names = [os.path.join(folder, f"{what}_{i}.pb") for i in range(count)]
            both.append([_read(info.type, name) for info, name in zip(infos, names)])
        sets.append(tuple(both))
    return Case(kind, one.name, data, tuple(sets), one.rtol, one.atol)


def _read(kind: Any, name: str) -> Any:
    with open(name, "rb") as file:
        data = file.read()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def model_of(case: Case, how: str) -> Any:
    """The imported model of a case, as a configuration wants it."""
    if how in ("plain", "native"):
        return load(case.model, "native" if how == "native" else "numpy")
    program, state = program_of(case.model)
    if how == "inference":
        with PassContext(4):
            module = Sequential([find("inference")], name="all")(
                Module({program.name: program}, state)
            )
        return layer_of(module.programs[program.name], module.state, "numpy")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net")
        layer_of(program, state).save(path)
        return io.load(path, mmap=False, engine="numpy")


def outcome(case: Case, how: str) -> str:
    """What is wrong with a case, "" if nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = model_of(case, how)
            for inputs, wanted in case.sets:
                given = model(*inputs)
                _compare(wanted, given if isinstance(given, tuple) else [given], case)
    except AssertionError as error:
        text = str(error).strip().splitlines()
        return "differs: " + " ".join(text)[:300] if text else "differs"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:400]}"
    return ""


def _compare(wanted: Any, given: Any, case: Case) -> None:
    assert len(wanted) == len(given), f"{len(given)} outputs in place of {len(wanted)}"
    for want, have in zip(wanted, given):
        if isinstance(want, (list, tuple)):
            assert isinstance(have, (list, tuple)), "no list"
            _compare(want, have, case)
            continue
        if want is None:
            assert have is None or have == [], "something in place of nothing"
            continue
        want, have = np.asarray(want), np.asarray(have.numpy())
        assert have.dtype == want.dtype, f"dtype {have.dtype} in place of {want.dtype}"
        assert have.shape == want.shape, f"shape {have.shape} in place of {want.shape}"
        rtol = max(case.rtol, 1e-3)
        if want.dtype.kind == "V":
            rtol = max(rtol, 2**-6) if want.dtype.name == "bfloat16" else rtol
            want, have = want.astype(np.float32), have.astype(np.float32)
        np.testing.assert_allclose(have, want, rtol=rtol, atol=case.atol)


def main() -> None:
    """Run cases and print what came of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--configurations", default=",".join(CONFIGURATIONS[:1]))
    parser.add_argument("-k", "--names", default="", help="a regular expression")
    parser.add_argument("-v", "--verbose", action="store_true", help="every failure")
    options = parser.parse_args()
    chosen = {k: c for k, c in cases().items() if re.search(options.names, k)}
    for how in options.configurations.split(","):
        start, groups, passed = time.process_time(), defaultdict(list), 0
        for key, case in chosen.items():
            why = outcome(case, how)
            if not why:
                passed += 1
                continue
            if options.verbose:
                print(f"  {key}: {why}", flush=True)
            short = re.sub(r"\(node \d+\)|'[^']*'|\d+", "", why)[:110]
            groups[short].append(key.split("/")[1].removeprefix("test_"))
        for short, names in sorted(groups.items(), key=lambda one: -len(one[1])):
            print(f"  {len(names):4} {short}\n       {', '.join(names)[:300]}")
        seconds = time.process_time() - start
        print(f"{how}: {passed} of {len(chosen)} pass, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()

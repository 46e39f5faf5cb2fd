"""Programs as ONNX, which onnxruntime and many other tools read.

    dy2st.onnx.export(net, "net.onnx", input_spec=[InputSpec(["batch", 3, 224, 224])])

Here are the arguments of `dy2st export`; `export.py` does the work, `verify.py` runs what is
written, at two sizes, against the Program.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dy2st.targets import add_format


def add_export(commands: Any) -> None:
    """Add the format to the command `export` of `dy2st`.

    >>> import argparse
    >>> parser = argparse.ArgumentParser("dy2st")
    >>> add_export(parser.add_subparsers())
    >>> parser.parse_args(["export", "net", "--onnx", "-o", "build", "--opset", "17"]).opset
    17
    """
    parser, formats = add_format(commands)
    formats.add_argument(
        "--onnx",
        dest="run_format",
        action="store_const",
        # What runs it is imported when it is called: to list commands must not take long.
        const=lambda options: import_module("dy2st.targets.onnx.export").export_files(options),
        help="a model of ONNX, verified by onnx.reference and onnxruntime",
    )
    parser.add_argument(
        "--opset", type=int, metavar="N", help="the version of ONNX's operators (default: 20)"
    )
    parser.add_argument(
        "--no-verify", action="store_true", help="write the model without running it"
    )
    parser.add_argument(
        "--external-data",
        action="store_true",
        help="parameters in a file of their own, as they are beyond 2 GB anyway",
    )


__all__ = ["add_export"]

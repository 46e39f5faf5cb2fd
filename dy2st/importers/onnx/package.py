"""What the package onnx knows of operators; it is loaded when a model is read."""

from __future__ import annotations

from functools import cache
from typing import Any

from dy2st_runtime.engine.onnx import library
from dy2st_runtime.engine.onnx.library import require_onnx

LARGEST = 2**31 - 1
OLDEST = 1
"""The first version of ONNX's operators; those before 7 are read as far as they mean the same."""


@cache
def onnx() -> Any:
    """The package; ArgumentError where it is not installed."""
    require_onnx()
    return library.onnx


@cache
def schema(operator: str, version: int, domain: str) -> Any:
    """ONNX's own record of an operator in a version of its domain, None if there is none."""
    if not 0 < version <= LARGEST:
        return None
    try:
        return onnx().defs.get_schema(operator, version, domain)
    except onnx().defs.SchemaError:
        return None


@cache
def newest(domain: str) -> int:
    """The newest version of a domain that the package knows, 0 for a foreign domain."""
    versions = onnx().defs.onnx_opset_version() if domain == "" else 0
    if not versions:
        known = [s.since_version for s in onnx().defs.get_all_schemas_with_history()
                 if s.domain == domain]  # fmt: skip
        versions = max(known, default=0)
    return int(versions)


def body_of(record: Any, version: int) -> Any:
    """The FunctionProto that defines an operator, for nodes of a version."""
    known = [one for one in record.function_opset_versions if one <= version]
    data = record.get_function_with_opset_version(
        max(known, default=record.function_opset_versions[0])
    )
    if not isinstance(data, bytes):
        return data
    proto = onnx().FunctionProto()
    proto.ParseFromString(data)
    return proto

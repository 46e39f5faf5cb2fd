"""What is written by hand of the class of tensors: Python's operators, and the names of types."""

from __future__ import annotations

# What a tensor has for the engines and for gradients alone.
HIDDEN = frozenset(
    "alias array as_resident dist_attr hold hooks index keep node put replace resident stopped "
    "storage tensor_type".split()
)

_IMPORTS = {
    "collections.abc": "Callable Iterator Sequence",
    "types": "EllipsisType",
    "typing": "Any TypeAlias",
    "dy2st_runtime.ir.types": "TensorType",
}
_TYPES = [
    "TensorLike: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | complex",
    "ShapeLike: TypeAlias = int | Sequence[int | Tensor | None] | Tensor",
    "_One: TypeAlias = int | slice | None | EllipsisType | Tensor | np.ndarray[Any, Any] | list[Any]",
    "Index: TypeAlias = _One | tuple[_One | tuple[int, ...], ...]",
    "def attach_methods(functions: dict[str, Callable[..., Any]], names: list[str]) -> None: ...",
    "def attach_late_methods(names: list[str], find: Callable[[str], Any] = ...) -> None: ...",
    "class Tensor:",
    '    """An n-dimensional array of one element type: computed, or to be computed in a trace."""',
    "    @property",
    "    def tensor_type(self) -> TensorType: ...",
]
HEAD = (_IMPORTS, _TYPES)

_PAIRS = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul "
    "and rand or ror xor rxor lshift rlshift rshift rrshift lt le gt ge"
)
OPERATORS = [
    *(f"def __{name}__(self, other: TensorLike) -> Tensor: ..." for name in _PAIRS.split()),
    "def __eq__(self, other: TensorLike | None) -> Tensor: ...  # type: ignore[override]",
    "def __ne__(self, other: TensorLike | None) -> Tensor: ...  # type: ignore[override]",
    *(f"def __{name}__(self) -> Tensor: ..." for name in ("neg", "pos", "abs", "invert")),
    "def __divmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]: ...",
    "def __rdivmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]: ...",
    "def __round__(self, digits: builtins.int | None = None) -> Tensor: ...",
    "def __getitem__(self, index: Index) -> Tensor: ...",
    "def __setitem__(self, index: Index, value: TensorLike | Sequence[Any]) -> None: ...",
    "def __iter__(self) -> Iterator[Tensor]: ...",
    "def __len__(self) -> builtins.int: ...",
    "def __contains__(self, value: TensorLike) -> builtins.bool: ...",
    "def __bool__(self) -> builtins.bool: ...",
    "def __int__(self) -> builtins.int: ...",
    "def __index__(self) -> builtins.int: ...",
    "def __float__(self) -> builtins.float: ...",
    "def __complex__(self) -> builtins.complex: ...",
    "def __hash__(self) -> builtins.int: ...",
    "def __bytes__(self) -> builtins.bytes: ...",
    "def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) "
    "-> np.ndarray[Any, Any]: ...",
    "def __dlpack__(self, **options: Any) -> Any: ...",
    "def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...",
]

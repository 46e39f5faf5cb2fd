"""Collectives of one process: sums over one rank, lists of one tensor."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NoReturn

from dy2st_runtime.errors import ArgumentError


class ReduceOp:
    """How tensors of several ranks become one; of one rank they are what they are."""

    SUM, MAX, MIN, PROD, AVG = range(5)


class Task:
    """Work that is done."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for it: it is done."""
        return True

    def is_completed(self) -> bool:
        """Whether it is done."""
        return True


def all_reduce(
    tensor: Any, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> Task:
    """The tensor, reduced over all ranks, in its place: it stays as it is."""
    return Task()


def reduce(
    tensor: Any, dst: int = 0, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> Task:
    """The tensor, reduced over all ranks, at rank `dst`: it stays as it is."""
    _only(dst)
    return Task()


def broadcast(tensor: Any, src: int, group: Any = None, sync_op: bool = True) -> Task:
    """The tensor of rank `src` for all: it stays as it is."""
    _only(src)
    return Task()


def all_gather(
    tensor_list: list[Any], tensor: Any, group: Any = None, sync_op: bool = True
) -> Task:
    """The tensors of all ranks into a list: a copy of this one.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> gathered = []
    >>> _ = all_gather(gathered, to_tensor([1.0]))
    >>> [entry.tolist() for entry in gathered]
    [[1.0]]
    """
    tensor_list[:] = [tensor.detach().clone()]
    return Task()


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int = 0,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """The tensors of all ranks into a list at rank `dst`."""
    _only(dst)
    return Task() if gather_list is None else all_gather(gather_list, tensor)


def scatter(
    tensor: Any,
    tensor_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """One tensor of the list of rank `src` for each rank: the first, into `tensor`."""
    _only(src)
    if tensor_list:
        tensor.set_value(tensor_list[0])
    return Task()


def reduce_scatter(
    tensor: Any,
    tensor_list: Sequence[Any],
    op: int = ReduceOp.SUM,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """Reduce lists of tensors over all ranks, one entry for each: the first, into `tensor`."""
    tensor.set_value(tensor_list[0])
    return Task()


def alltoall(
    out_tensor_list: list[Any],
    in_tensor_list: Sequence[Any],
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """Entry i of every list to rank i: copies of the list."""
    out_tensor_list[:] = [tensor.detach().clone() for tensor in in_tensor_list]
    return Task()


def alltoall_single(
    out_tensor: Any,
    in_tensor: Any,
    in_split_sizes: Any = None,
    out_split_sizes: Any = None,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """Parts of a tensor to all ranks: the whole of it, into `out_tensor`."""
    out_tensor.set_value(in_tensor)
    return Task()


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """The objects of all ranks into a list: a copy of this one."""
    object_list[:] = [copy.deepcopy(obj)]


def broadcast_object_list(object_list: list[Any], src: int, group: Any = None) -> None:
    """The objects of rank `src` for all: they stay as they are."""
    _only(src)


def scatter_object_list(
    out_object_list: list[Any],
    in_object_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Any = None,
) -> None:
    """One object of the list of rank `src` for each rank: the first."""
    _only(src)
    if in_object_list:
        out_object_list[:] = [copy.deepcopy(in_object_list[0])]


def wait(tensor: Any, group: Any = None, use_calc_stream: bool = True) -> None:
    """Wait until a tensor is there: it is."""


def _only(rank: int) -> None:
    if rank != 0:
        _alone(f"rank {rank}")


def _alone(what: str) -> NoReturn:
    raise ArgumentError(f"{what}: there is no other process; dy2st runs as rank 0 of 1")


def send(tensor: Any, dst: int = 0, group: Any = None, sync_op: bool = True) -> NoReturn:
    """Refuse: there is nobody to send to."""
    _alone(f"send() to rank {dst}")


def recv(tensor: Any, src: int = 0, group: Any = None, sync_op: bool = True) -> NoReturn:
    """Refuse: there is nobody to hear from."""
    _alone(f"recv() from rank {src}")


isend, irecv = send, recv

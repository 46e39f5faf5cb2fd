"""Collectives on tensors and objects; of one process they give back what they got.

Tensors are changed in place, and no gradient flows through. Arrays go through
`dy2st_runtime.processes`; in a converted function the operators of `ops/collectives.py` stand.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, ConversionError, NoTensor, PeerError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.ir.types import named_dtype
from dy2st_runtime.processes import exchange
from dy2st_runtime.processes.channel import Channel, Work
from dy2st_runtime.processes.exchange import described, op_name, reducer
from dy2st_runtime.processes.group import Group, world
from dy2st_runtime.processes.pair import pair_with
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]


class ReduceOp:
    """How tensors of several ranks become one; of one rank they are what they are.

    >>> op = dy2st.distributed.ReduceOp
    >>> x = dy2st.to_tensor([1.0, 2.0])
    >>> _ = dy2st.distributed.all_reduce(x, op.MAX)
    >>> x.tolist()
    [1.0, 2.0]
    """

    SUM, MAX, MIN, PROD, AVG = exchange.SUM, exchange.MAX, exchange.MIN, exchange.PROD, exchange.AVG


class Task:
    """Work that may go on in another thread; `wait` brings its result into the tensor."""

    def __init__(self, group: Group, work: Work[Any] | None = None, then: Any = None) -> None:
        """Take what goes on, and what to do with its result."""
        self._group, self._work, self._then = group, work, then
        if work is not None:
            _PENDING.append(self)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done.

        Raises PeerError if a process is gone or does something else, PeerTimeout if it hangs.
        """
        if self._work is not None:
            work, self._work = self._work, None
            _PENDING.remove(self)
            self._then(self._group.finish(work))
        return True

    def is_completed(self) -> bool:
        """Whether nothing is to be waited for."""
        return self._work is None or self._work.is_done()


_PENDING: list[Task] = []


def wait(tensor: Any, group: Any = None, use_calc_stream: bool = True) -> None:
    """Wait until all that was started with `sync_op=False` is done.

    >>> x = dy2st.ones([2])
    >>> task = dy2st.distributed.all_reduce(x, sync_op=False)
    >>> dy2st.distributed.wait(x)
    """
    for task in [*_PENDING]:
        task.wait()


def group_or_world(group: Any) -> Group:
    """The group of a call: of all processes, if none is given."""
    if group is None:
        return world()
    if not isinstance(group, Group):
        raise ArgumentError(f"group={group!r:.80} is none that new_group() gave")
    return group


def _begin(
    group: Any,
    sync_op: bool,
    what: str,
    alone: Callable[[], Any],
    run: Callable[[Channel], Any],
    then: Callable[[Any], None],
) -> Task:
    """Start a collective; who takes no part, or is alone, has nothing to wait for."""
    group = group_or_world(group)
    if not group.is_member():
        return Task(group)
    if group.nranks == 1:
        then(alone())
        return Task(group)
    task = Task(group, group.start(what, run), then)
    if sync_op:
        task.wait()
    return task


def _array(tensor: Any) -> Array:
    """What a tensor holds; in a Program that is made there is nothing yet."""
    if isinstance(tensor, EagerTensor) and current_tracer() is None:
        return tensor.array
    if isinstance(tensor, Tensor):
        raise ConversionError(
            "this collective of several processes in a converted function",
            at=None,
            why="its result is a list, an object, or for one rank alone, which no Program has",
            hint="use all_reduce, broadcast, or all_gather into an empty list; or call it outside "
            "of the converted function",
        )
    raise NoTensor(f"a collective takes tensors, not {tensor!r:.80}")


def _is_recorded(tensor: Any) -> bool:
    """Whether the call becomes an operator of a Program that is made."""
    return current_tracer() is not None and isinstance(tensor, Tensor)


def _recorded(tensor: Any, group: Any, operator: str, **attributes: Any) -> Any:
    """What the operator gives that stands for a collective in a Program."""
    group = group_or_world(group)
    if not group.is_member():
        raise ArgumentError(f"{operator}: this process is none of the ranks {group.ranks}")
    return apply(operator, tensor.detach(), ranks=tuple(group.ranks), **attributes)


def _record(tensor: Any, group: Any, operator: str, **attributes: Any) -> Task:
    """Let the tensor of a Program be what a collective gives."""
    tensor.set_value(_recorded(tensor, group, operator, **attributes))
    return Task(group_or_world(group))


def _place(group: Any, rank: int) -> int:
    """The place in a group of a rank among all processes."""
    ranks = group_or_world(group).ranks
    place = group_or_world(group).get_group_rank(rank)
    if place < 0:
        raise ArgumentError(f"rank {rank} takes no part: the group has the ranks {ranks}")
    return place


def _is_alone(group: Any) -> bool:
    return group_or_world(group).nranks == 1


def all_reduce(
    tensor: Any, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> Task:
    """The tensor, reduced over all ranks, in its place.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> x = to_tensor([1.0])
    >>> _ = all_reduce(x)  # of one process
    >>> x.tolist()
    [1.0]
    """
    reduce_parts = reducer(op)
    if _is_alone(group):
        return Task(group_or_world(group))
    if _is_recorded(tensor):
        return _record(tensor, group, "all_reduce", op=op_name(op))
    array = _array(tensor)
    what = described("all_reduce", array, op_name(op))
    return _begin(
        group,
        sync_op,
        what,
        lambda: array,
        lambda channel: exchange.combine(channel, what, array, reduce_parts),
        tensor.set_value,
    )


def reduce(
    tensor: Any, dst: int = 0, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> Task:
    """The tensor, reduced over all ranks, at rank `dst`; at the others it stays as it is.

    >>> x = dy2st.to_tensor([1.0, 2.0])
    >>> _ = dy2st.distributed.reduce(x, dst=0)
    >>> x.tolist()  # of one process
    [1.0, 2.0]
    """
    place, reduce_parts = _place(group, dst), reducer(op)
    if _is_alone(group):
        return Task(group_or_world(group))
    array = _array(tensor)
    what = described("reduce", array, op_name(op), f"dst={dst}")
    is_here = group_or_world(group).rank == place
    return _begin(
        group,
        sync_op,
        what,
        lambda: array,
        lambda channel: exchange.combine(channel, what, array, reduce_parts),
        lambda result: tensor.set_value(result) if is_here else None,
    )


def broadcast(tensor: Any, src: int, group: Any = None, sync_op: bool = True) -> Task:
    """The tensor of rank `src` for all, in its place.

    >>> x = dy2st.to_tensor([1.0, 2.0])
    >>> _ = dy2st.distributed.broadcast(x, src=0)
    >>> x.tolist()
    [1.0, 2.0]
    """
    place = _place(group, src)
    if _is_alone(group):
        return Task(group_or_world(group))
    if _is_recorded(tensor):
        return _record(tensor, group, "broadcast_from", src=src)
    array = _array(tensor)
    what = described("broadcast", array, f"src={src}")
    take = exchange.from_rank(place)
    return _begin(
        group,
        sync_op,
        what,
        lambda: array,
        lambda channel: exchange.combine(channel, what, array, take),
        tensor.set_value,
    )


def all_gather(
    tensor_list: list[Any], tensor: Any, group: Any = None, sync_op: bool = True
) -> Task:
    """The tensors of all ranks into a list, or into the tensors that it has.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> gathered = []
    >>> _ = all_gather(gathered, to_tensor([1.0]))
    >>> [entry.tolist() for entry in gathered]
    [[1.0]]
    """
    if _is_alone(group):
        tensor_list[:] = [tensor.detach().clone()]
        return Task(group_or_world(group))
    if _is_recorded(tensor):
        found = _recorded(tensor, group, "all_gather")
        tensor_list[:] = [found[place] for place in range(found.shape[0])]
        return Task(group_or_world(group))
    array = _array(tensor)
    what = described("all_gather", array)
    return _begin(
        group,
        sync_op,
        what,
        lambda: [array],
        lambda channel: exchange.gather(channel, what, array),
        lambda found: _fill(tensor_list, found),
    )


def _fill(tensors: list[Any], arrays: Sequence[Array]) -> None:
    """Arrays into the tensors of a list, which gets new ones if it has another number of them."""
    if len(tensors) == len(arrays) and all(isinstance(entry, EagerTensor) for entry in tensors):
        for tensor, array in zip(tensors, arrays, strict=True):
            tensor.set_value(array)
    else:
        tensors[:] = [EagerTensor(array) for array in arrays]


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int = 0,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """The tensors of all ranks into a list at rank `dst`.

    >>> found = []
    >>> _ = dy2st.distributed.gather(dy2st.ones([2]), found, dst=0)
    >>> [x.tolist() for x in found]  # of one process
    [[1.0, 1.0]]
    """
    is_here = group_or_world(group).rank == _place(group, dst)
    array = _array(tensor)
    what = described("gather", array, f"dst={dst}")
    return _begin(
        group,
        sync_op,
        what,
        lambda: [array.copy()],
        lambda channel: exchange.gather(channel, what, array),
        lambda found: _fill(gather_list, found) if is_here and gather_list is not None else None,
    )


def scatter(
    tensor: Any,
    tensor_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """One tensor of the list of rank `src` for each rank, into `tensor`.

    >>> x = dy2st.zeros([2])
    >>> _ = dy2st.distributed.scatter(x, [dy2st.ones([2])], src=0)
    >>> x.tolist()
    [1.0, 1.0]
    """
    place = _place(group, src)
    array, count = _array(tensor), group_or_world(group).nranks
    is_here = group_or_world(group).rank == place
    given = [_like(array, entry) for entry in tensor_list or ()] if is_here else []
    if is_here and count > 1:
        _check_count("scatter", given, count)
    what = described("scatter", array, f"src={src}")
    sent = given or [np.zeros_like(array)] * count
    return _begin(
        group,
        sync_op,
        what,
        lambda: given[0] if given else array,
        lambda channel: exchange.swap(channel, what, sent)[place],
        tensor.set_value,
    )


def _like(array: Array, tensor: Any) -> Array:
    """The array of a tensor that is to become another one."""
    found = _array(tensor)
    if (found.dtype, found.shape) != (array.dtype, array.shape):
        raise ArgumentError(
            f"a tensor of {found.dtype}{list(found.shape)} for one of "
            f"{array.dtype}{list(array.shape)}"
        )
    return found


def _check_count(call: str, given: Sequence[Any], count: int) -> None:
    if len(given) != count:
        raise ArgumentError(f"{call}: a list of {len(given)} tensors for {count} processes")


def reduce_scatter(
    tensor: Any,
    tensor_list: Sequence[Any],
    op: int = ReduceOp.SUM,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """Reduce lists of tensors over all ranks, one entry for each, into `tensor`.

    >>> x = dy2st.zeros([2])
    >>> _ = dy2st.distributed.reduce_scatter(x, [dy2st.ones([2])])
    >>> x.tolist()
    [1.0, 1.0]
    """
    reduce_parts = reducer(op)
    _check_count("reduce_scatter", tensor_list, group_or_world(group).nranks)
    if _is_alone(group):
        tensor.set_value(tensor_list[0])
        return Task(group_or_world(group))
    if _is_recorded(tensor):
        stacked = F.stack(list(tensor_list))
        tensor.set_value(_recorded(stacked, group, "reduce_scatter", op=op_name(op)))
        return Task(group_or_world(group))
    array = _array(tensor)
    given = [_like(array, entry) for entry in tensor_list]
    what = described("reduce_scatter", array, op_name(op))
    return _begin(
        group,
        sync_op,
        what,
        lambda: given[0],
        lambda channel: reduce_parts(np.stack(exchange.swap(channel, what, given))),
        tensor.set_value,
    )


def alltoall(
    out_tensor_list: list[Any],
    in_tensor_list: Sequence[Any],
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """Entry i of every list to rank i.

    >>> found = []
    >>> _ = dy2st.distributed.alltoall(found, [dy2st.ones([2])])
    >>> [x.tolist() for x in found]
    [[1.0, 1.0]]
    """
    if _is_alone(group):
        out_tensor_list[:] = [tensor.detach().clone() for tensor in in_tensor_list]
        return Task(group_or_world(group))
    _check_count("alltoall", in_tensor_list, group_or_world(group).nranks)
    if _is_recorded(in_tensor_list[0]):
        found = _recorded(F.stack(list(in_tensor_list)), group, "all_to_all")
        out_tensor_list[:] = [found[place] for place in range(found.shape[0])]
        return Task(group_or_world(group))
    first = _array(in_tensor_list[0])
    given = [_like(first, tensor) for tensor in in_tensor_list]
    what = described("alltoall", first)
    return _begin(
        group,
        sync_op,
        what,
        lambda: given,
        lambda channel: exchange.swap(channel, what, given),
        lambda found: _fill(out_tensor_list, found),
    )


def alltoall_single(
    out_tensor: Any,
    in_tensor: Any,
    in_split_sizes: Any = None,
    out_split_sizes: Any = None,
    group: Any = None,
    sync_op: bool = True,
) -> Task:
    """Parts of a tensor along its first axis to all ranks, theirs into `out_tensor`.

    Without sizes all parts are equal.

    >>> x = dy2st.zeros([2])
    >>> _ = dy2st.distributed.alltoall_single(x, dy2st.ones([2]))
    >>> x.tolist()
    [1.0, 1.0]
    """
    array, count = _array(in_tensor), group_or_world(group).nranks
    if not in_split_sizes and array.shape[0] % count:
        raise ArgumentError(f"alltoall_single: {array.shape[0]} rows for {count} processes")
    sizes = list(in_split_sizes or [array.shape[0] // count] * count)
    _check_count("alltoall_single", sizes, count)
    if sum(sizes) != array.shape[0]:
        raise ArgumentError(f"alltoall_single: parts of {sizes} of {array.shape[0]} rows")
    parts = np.split(array, np.cumsum(sizes)[:-1])
    what = f"alltoall_single({array.dtype}{['*', *array.shape[1:]]})"
    return _begin(
        group,
        sync_op,
        what,
        lambda: array,
        lambda channel: np.concatenate(exchange.swap_parts(channel, what, parts)),
        out_tensor.set_value,
    )


# -- objects ----------------------------------------------------------------------------------


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """The objects of all ranks, copied by pickle, into a list.

    >>> found = []
    >>> dy2st.distributed.all_gather_object(found, {"rank": 0})
    >>> found
    [{'rank': 0}]
    """
    object_list[:] = gathered(obj, group, "all_gather_object") or object_list


def gathered(obj: Any, group: Any, what: str) -> list[Any]:
    """The objects of all ranks of a group; none for who takes no part."""
    group = group_or_world(group)
    if not group.is_member():
        return []
    if group.nranks == 1:
        return [copy.deepcopy(obj)]
    data = pickle.dumps(obj)
    work = group.start(what, lambda channel: exchange.gather_bytes(channel, what, data))
    return [pickle.loads(entry) for entry in group.finish(work)]


def broadcast_object_list(object_list: list[Any], src: int, group: Any = None) -> None:
    """The objects of rank `src` for all, in their place.

    >>> objects = [{"seed": 7}]
    >>> dy2st.distributed.broadcast_object_list(objects, src=0)
    >>> objects
    [{'seed': 7}]
    """
    place = _place(group, src)
    if not _is_alone(group):
        own = object_list if group_or_world(group).rank == place else None
        found = gathered(own, group, f"broadcast_object_list(src={src})")
        object_list[:] = found[place] if found else object_list


def scatter_object_list(
    out_object_list: list[Any],
    in_object_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Any = None,
) -> None:
    """One object of the list of rank `src` for each rank.

    >>> found = []
    >>> dy2st.distributed.scatter_object_list(found, [{"part": 0}], src=0)
    >>> found
    [{'part': 0}]
    """
    place, group = _place(group, src), group_or_world(group)
    own = list(in_object_list or ()) if group.rank == place else []
    found = gathered(own, group, f"scatter_object_list(src={src})")
    if not found or (not found[place] and _is_alone(group)):
        return
    _check_count("scatter_object_list", found[place], group.nranks)
    out_object_list[:] = [found[place][group.rank]]


# -- one to one -------------------------------------------------------------------------------


def _other(call: str, rank: int, group: Any) -> None:
    """Refuse to speak to oneself, or to nobody."""
    group = group_or_world(group)
    if group.get_group_rank(rank) < 0 or rank == world().rank:
        raise ArgumentError(
            f"{call} rank {rank}: this is rank {world().rank}, and the group has the ranks "
            f"{group.ranks}"
        )


def isend(tensor: Any, dst: int, group: Any = None) -> Task:
    """Begin to send a tensor to another rank, which calls `recv` or `irecv`.

    >>> task = dy2st.distributed.isend(dy2st.ones([2]), dst=1)  # doctest: +SKIP
    >>> task.wait()  # doctest: +SKIP
    """
    _other("send() to", dst, group)
    array, pair = _array(tensor), pair_with(dst)
    head = json.dumps([array.dtype.name, array.shape]).encode()
    return Task(pair.group, pair.send(head + b"\n" + array.tobytes()), lambda _: None)


def irecv(tensor: Any, src: int | None = None, group: Any = None) -> Task:
    """Begin to receive a tensor of this type and shape from another rank, into `tensor`.

    >>> x = dy2st.zeros([2])
    >>> task = dy2st.distributed.irecv(x, src=0)  # doctest: +SKIP
    >>> task.wait()  # doctest: +SKIP
    """
    src = 0 if src is None else src
    _other("recv() from", src, group)
    array, pair = _array(tensor), pair_with(src)

    def take(data: bytes) -> None:
        head, _, body = data.partition(b"\n")
        dtype, shape = json.loads(head)
        if (dtype, shape) != (array.dtype.name, list(array.shape)):
            raise PeerError(
                f"rank {src} has sent {dtype}{shape}, and recv() waits for "
                f"{array.dtype}{list(array.shape)}"
            )
        tensor.set_value(np.frombuffer(body, named_dtype(dtype)).reshape(shape).copy())

    return Task(pair.group, pair.receive(), take)


def send(tensor: Any, dst: int = 0, group: Any = None, sync_op: bool = True) -> Task:
    """Send a tensor to another rank.

    >>> dy2st.distributed.send(dy2st.ones([2]), dst=1)  # doctest: +SKIP
    """
    task = isend(tensor, dst, group)
    if sync_op:
        task.wait()
    return task


def recv(tensor: Any, src: int = 0, group: Any = None, sync_op: bool = True) -> Task:
    """Receive a tensor of this type and shape from another rank, into `tensor`.

    >>> x = dy2st.zeros([2])
    >>> dy2st.distributed.recv(x, src=0)  # doctest: +SKIP
    """
    task = irecv(tensor, src, group)
    if sync_op:
        task.wait()
    return task


def send_object_list(object_list: Sequence[Any], dst: int, group: Any = None) -> None:
    """Send objects to another rank, by pickle.

    >>> dy2st.distributed.send_object_list([{"step": 3}], dst=1)  # doctest: +SKIP
    """
    _other("send_object_list() to", dst, group)
    pair = pair_with(dst)
    pair.group.finish(pair.send(pickle.dumps(list(object_list))))


def recv_object_list(object_list: list[Any], src: int, group: Any = None) -> None:
    """Receive objects from another rank, in their place.

    >>> objects = [None]
    >>> dy2st.distributed.recv_object_list(objects, src=0)  # doctest: +SKIP
    """
    _other("recv_object_list() from", src, group)
    pair = pair_with(src)
    object_list[:] = pickle.loads(pair.group.finish(pair.receive()))


class P2POp:
    """One of several sends and receives for `batch_isend_irecv`; `op` is `isend` or `irecv`.

    >>> dist = dy2st.distributed
    >>> P2POp = dist.P2POp(dist.isend, dy2st.ones([2]), 1)  # doctest: +SKIP
    """

    def __init__(self, op: Callable[..., Task], tensor: Any, peer: int, group: Any = None) -> None:
        """Take what to do, with which tensor and rank."""
        if op not in (isend, irecv):
            raise ArgumentError("P2POp: op is dist.isend or dist.irecv")
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Task]:
    """Begin several sends and receives at once; the tasks to wait for.

    >>> dist, x = dy2st.distributed, dy2st.zeros([2])
    >>> both = [dist.P2POp(dist.isend, dy2st.ones([2]), 1), dist.P2POp(dist.irecv, x, 1)]
    >>> for task in dist.batch_isend_irecv(both):  # doctest: +SKIP
    ...     task.wait()
    """
    return [one.op(one.tensor, one.peer, one.group) for one in p2p_op_list]


def barrier(group: Any = None) -> None:
    """Wait until all processes of the group have come here.

    >>> dy2st.distributed.barrier()
    """
    _begin(
        group, True, "barrier", lambda: None, lambda c: c.meet("barrier", 0), lambda result: None
    )

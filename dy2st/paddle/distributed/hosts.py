"""Launchers of several machines: who has which ranks, and that all end when one fails.

The launchers meet at the address of the first one and speak in lines of JSON. With one machine
there is nobody to speak to.
"""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from typing import Any, NamedTuple

from dy2st_runtime.errors import ArgumentError, PeerError, PeerTimeout

_RESULT = ("PeerError", "PeerTimeout")
_ABORT = "the JAX distributed service detected fatal errors"  # rank 0 is gone


class Failure(NamedTuple):
    """How a process has failed.

    >>> failure = Failure(1, "node2", "exit status 1", "ZeroDivisionError: division by zero")
    >>> print(failure.text())
    rank 1 on node2 ended with exit status 1, and all others were ended:
    ZeroDivisionError: division by zero
    >>> failure.is_result, failure.is_abort
    (False, False)
    """

    rank: int
    host: str
    how: str
    shown: str
    ended: float = 0.0

    @property
    def is_result(self) -> bool:
        """Whether it failed because another one did."""
        last = self.shown.rstrip().rpartition("\n")[2]
        return self.is_abort or any(name in last for name in _RESULT)

    @property
    def is_abort(self) -> bool:
        """Whether jax has ended it, since rank 0 is gone."""
        return _ABORT in self.shown

    def text(self) -> str:
        """The one message that tells of it."""
        words = f"rank {self.rank} on {self.host} ended with {self.how}, and all others were ended"
        return f"{words}:\n{self.shown.rstrip()}" if self.shown.strip() else f"{words}."


class Plan(NamedTuple):
    """Which ranks the processes of this machine have, and where all meet.

    >>> plan = Plan(first=2, processes=2, coordinator="a:80", hosts=["a", "a", "b", "b"], node=1)
    >>> of_process = plan.environment(0)
    >>> of_process["PADDLE_TRAINER_ID"], of_process["PADDLE_CURRENT_ENDPOINT"]
    ('2', 'b:82')
    """

    first: int
    processes: int
    coordinator: str
    hosts: list[str]
    node: int = 0

    def environment(self, local: int) -> dict[str, str]:
        """The variables of one process, by PaddlePaddle's names."""
        rank, port = self.first + local, int(self.coordinator.rpartition(":")[2])
        endpoints = [f"{host}:{port + place}" for place, host in enumerate(self.hosts)]
        return {
            "PADDLE_MASTER": self.coordinator,
            "PADDLE_TRAINER_ID": str(rank),
            "PADDLE_GLOBAL_RANK": str(rank),
            "PADDLE_TRAINERS_NUM": str(len(self.hosts)),
            "PADDLE_GLOBAL_SIZE": str(len(self.hosts)),
            "PADDLE_LOCAL_RANK": str(local),
            "PADDLE_RANK_IN_NODE": str(local),
            "PADDLE_LOCAL_SIZE": str(self.processes),
            "PADDLE_NNODES": str(len({*self.hosts})),
            "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
            "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        }


class _Peer:
    """Another launcher: lines of JSON in both directions."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._connection, self.name = connection, name
        self._read = b""
        self.facts: dict[str, Any] = {}
        self.first, self.is_done = 0, False

    def say(self, **facts: Any) -> None:
        with suppress(OSError):  # that it is gone is heard when we listen
            self._connection.settimeout(5)
            self._connection.sendall(json.dumps(facts).encode() + b"\n")
            self._connection.setblocking(False)

    def heard(self) -> dict[str, Any] | None:
        """What it has said, if a line is there; PeerError if it is gone."""
        try:
            while b"\n" not in self._read:
                data = self._connection.recv(65536)
                if not data:
                    raise PeerError(f"the launcher on {self.name} is gone")
                self._read += data
        except BlockingIOError:
            return None
        except OSError as error:
            raise PeerError(f"the launcher on {self.name} is gone: {error.strerror}") from None
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def next(self, deadline: float) -> dict[str, Any]:
        """The next line; PeerTimeout if none comes."""
        while (found := self.heard()) is None:
            if time.monotonic() > deadline:
                raise PeerTimeout(f"the launcher on {self.name} says nothing")
            time.sleep(0.02)
        return found

    def close(self) -> None:
        self._connection.close()


class Hosts:
    """The launchers of all machines, seen from one of them; the first one decides.

    >>> hosts = Hosts(1, "", 0, 10.0)  # one machine
    >>> hosts.plan(2).hosts
    ['127.0.0.1', '127.0.0.1']
    >>> hosts.heard() is None, hosts.all_done()
    (True, True)
    >>> hosts.settle(Failure(1, "a", "exit status 1", "")).rank
    1
    >>> hosts.close()
    """

    def __init__(self, count: int, master: str, node: int, timeout: float) -> None:
        """Meet the others; PeerTimeout with the address if they do not come."""
        self._count, self._master, self._timeout = count, master, timeout
        self._peers: list[_Peer] = []
        self._node, self._is_done = max(node, 0), False
        if count == 1:
            return
        host, _, port = master.rpartition(":")
        if not host or not port.isdigit() or not 0 <= node < count:
            raise ArgumentError(
                f"--nnodes {count} needs --master host:port, the address of the first machine, and "
                f"on each machine its own --rank from 0 to {count - 1}"
            )
        deadline = time.monotonic() + timeout
        if node == 0:
            self._accept(int(port), deadline)
        else:
            self._peers = [self._connect((host.strip("[]"), int(port)), deadline)]

    def _accept(self, port: int, deadline: float) -> None:
        family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
        try:
            server = socket.create_server(
                ("", port), family=family, dualstack_ipv6=family is socket.AF_INET6
            )
        except OSError as error:
            raise PeerError(f"cannot listen at {self._master}: {error.strerror}") from None
        come: dict[int, _Peer] = {}
        with server:
            while len(come) < self._count - 1:
                server.settimeout(max(deadline - time.monotonic(), 0.01))
                try:
                    connection, address = server.accept()
                except TimeoutError:
                    lacking = [n for n in range(1, self._count) if n not in come]
                    raise PeerTimeout(
                        f"waited {self._timeout:g} s at {self._master}, and the launchers of the "
                        f"machines {lacking} have not come"
                    ) from None
                peer = _Peer(connection, address[0])
                with suppress(PeerError, ValueError):  # a stranger
                    hello = peer.next(time.monotonic() + 5)
                    peer.name = hello["host"]
                    come[hello["node"]] = peer
        self._peers = [come[node] for node in sorted(come)]

    def _connect(self, address: tuple[str, int], deadline: float) -> _Peer:
        while True:
            try:
                peer = _Peer(socket.create_connection(address, timeout=5), address[0])
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise PeerTimeout(
                        f"nobody answers at {self._master} ({error.strerror or error}), for "
                        f"{self._timeout:g} s: --master is the address of the machine whose --rank "
                        "is 0, and its launcher has to run"
                    ) from None
            time.sleep(0.2)
        peer.say(node=self._node, host=socket.gethostname())
        return peer

    def plan(self, processes: int) -> Plan:
        """Which ranks the processes here get; all launchers ask at the same time."""
        deadline = time.monotonic() + self._timeout
        self._is_done = False
        if self._node:
            self._peers[0].say(processes=processes)
            return Plan(*self._next_about(self._peers[0], "plan", deadline))
        counts = [processes]
        for peer in self._peers:
            counts.append(self._next_about(peer, "processes", deadline))
            peer.first, peer.is_done = sum(counts[:-1]), False
        host = self._master.rpartition(":")[0] if self._peers else "127.0.0.1"
        with socket.create_server(("", 0)) as free:
            port = free.getsockname()[1]
        names = [host, *(peer.name for peer in self._peers)]
        every = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
        coordinator = f"{host}:{port}"
        for node, peer in enumerate(self._peers, 1):
            peer.say(plan=[peer.first, counts[node], coordinator, every, node])
        return Plan(0, processes, coordinator, every)

    def _next_about(self, peer: _Peer, about: str, deadline: float) -> Any:
        while about not in (found := peer.next(deadline)):
            pass  # of the attempt before
        return found[about]

    def settle(self, failure: Failure) -> Failure:
        """Tell the others of a failure here; the one that all speak of."""
        if self._node:
            self._peers[0].say(failed=failure)
            deadline = time.monotonic() + 5
            with suppress(PeerError):
                return Failure(*self._next_about(self._peers[0], "end", deadline))
            return failure
        if failure.is_result:  # another machine may know the cause
            time.sleep(0.5)
            for peer in self._peers:
                theirs = self._failure_of(peer)
                failure = theirs if theirs is not None and not theirs.is_result else failure
        for peer in self._peers:
            peer.say(end=failure)
        return failure

    def heard(self) -> Failure | None:
        """The failure on another machine, if there is one."""
        for peer in self._peers:
            failure = self._failure_of(peer)
            if failure is not None:
                return failure if self._node else self.settle(failure)
        return None

    def _failure_of(self, peer: _Peer) -> Failure | None:
        try:
            found = peer.heard()
        except PeerError as error:
            return None if self._is_done else Failure(peer.first, peer.name, str(error), "")
        if found is None:
            return None
        peer.is_done = peer.is_done or "done" in found
        theirs = found.get("failed") or found.get("end")
        return None if theirs is None else Failure(*theirs)

    def all_done(self) -> bool:
        """Whether the processes of all machines have ended well; those here have."""
        if self._node:
            if not self._is_done:
                self._peers[0].say(done=True)
                self._is_done = True
            return self._peers[0].is_done
        if all(peer.is_done for peer in self._peers):
            for peer in self._peers:
                peer.say(done=True)
            return True
        return False

    def close(self) -> None:
        """Leave the others, who take it for the end."""
        for peer in self._peers:
            peer.close()

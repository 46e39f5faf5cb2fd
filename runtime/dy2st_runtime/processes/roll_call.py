"""Waits until all processes are there, before jax is: it would end a process that waits too long.

Rank 0 listens, every other rank comes and says who it is. When the last is there all are told to go
on. What goes wrong is told to those who are there, so that each can say it.
"""

from __future__ import annotations

import socket
import time

from dy2st_runtime.errors import ArgumentError, PeerError, PeerTimeout
from dy2st_runtime.processes import Environment

_GO = b"go\n"
_LONGEST = 4096


def roll_call(env: Environment) -> None:
    """Return when all ranks are at the coordinator's address.

    Raises PeerTimeout with the address and the ranks that lack, PeerError if two processes have one
    rank or do not know the same number of them.
    """
    host, _, port = env.coordinator.rpartition(":")
    if not host or not port.isdigit():
        raise ArgumentError(
            f"PADDLE_MASTER={env.coordinator!r}: rank 0 of {env.world_size} processes needs an "
            "address host:port at which the others find it"
        )
    deadline = time.monotonic() + env.join_timeout
    if env.rank:
        _answer(env, (host.strip("[]"), int(port)), deadline)
    else:
        _call(env, int(port), deadline)


def _call(env: Environment, port: int, deadline: float) -> None:
    """Rank 0: wait for all others."""
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    dual = family is socket.AF_INET6
    try:
        server = socket.create_server(("", port), family=family, dualstack_ipv6=dual)
    except OSError as error:
        raise PeerError(
            f"rank 0 cannot listen at {env.coordinator}: {error.strerror}; give PADDLE_MASTER, or "
            "--master, a port that is free"
        ) from None
    come: dict[int, socket.socket] = {}
    wrong = ""
    with server:
        while len(come) < env.world_size - 1 and not wrong:
            server.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                peer, _ = server.accept()
                peer.settimeout(5)
                words = peer.makefile("rb").readline(_LONGEST).split()
            except TimeoutError:
                if time.monotonic() < deadline:
                    continue  # of a stranger who says nothing
                lacking = [r for r in range(1, env.world_size) if r not in come]
                wrong = f"rank 0 has waited {env.join_timeout:g} s at {env.coordinator}, and of "
                wrong += f"{env.world_size} processes the ranks {lacking} have not come"
                break
            except OSError:
                continue
            if len(words) != 3 or words[0] != b"dy2st":
                peer.close()
                continue
            rank, count = int(words[1]), int(words[2])
            if count != env.world_size:
                wrong = f"rank {rank} is one of {count} processes, rank 0 of {env.world_size}"
            elif rank in come:
                wrong = f"two processes at {env.coordinator} say that they are rank {rank}"
            come.setdefault(rank, peer)
        for peer in come.values():
            with peer:
                peer.sendall(wrong.encode() + b"\n" if wrong else _GO)
    if wrong:
        raise (PeerTimeout if "waited" in wrong else PeerError)(wrong)


def _answer(env: Environment, address: tuple[str, int], deadline: float) -> None:
    """Any other rank: go to rank 0, and wait until it says that all are there."""
    why = "no answer"
    while (left := deadline - time.monotonic()) > 0:
        try:
            with socket.create_connection(address, timeout=min(left, 5)) as server:
                server.sendall(f"dy2st {env.rank} {env.world_size}\n".encode())
                server.settimeout(left + 5)  # rank 0 has its own deadline, and says who lacks
                heard = server.makefile("rb").readline(_LONGEST)
        except OSError as error:
            why = str(error.strerror or error)
            heard = b""
        if heard == _GO:
            return
        if heard:
            raise PeerError(heard.decode().strip())
        time.sleep(0.1)
    raise PeerTimeout(
        f"rank {env.rank} has waited {env.join_timeout:g} s for rank 0 at {env.coordinator}, which "
        f"gives {why}: it listens at the address in PADDLE_MASTER, or --master, once it has called "
        "init_parallel_env()"
    )

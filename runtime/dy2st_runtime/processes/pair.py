"""Two processes that send to each other: what either sends first is kept until it is asked for."""

from __future__ import annotations

from collections import deque

from dy2st_runtime.errors import PeerError
from dy2st_runtime.processes.channel import Channel, Work
from dy2st_runtime.processes.exchange import gather_bytes
from dy2st_runtime.processes.group import Group, world

_PAIRS: dict[int, Pair] = {}


class Pair:
    """This process and another one.

    Both take part in each meeting. Where both send, each keeps what it gets; where both want to
    receive, nobody sends, and both fail.
    """

    def __init__(self, other: int) -> None:
        """Take the rank of the other."""
        own = world().rank
        self.group = Group(sorted((own, other)))
        self._there = self.group.get_group_rank(other)
        self._kept: deque[bytes] = deque()

    def send(self, data: bytes) -> Work[bytes]:
        """Start to send."""
        return self.group.start("send", lambda channel: self._sent(channel, data))

    def receive(self) -> Work[bytes]:
        """Start to receive."""
        return self.group.start("recv", self._received)

    def _sent(self, channel: Channel, data: bytes) -> bytes:
        heard = gather_bytes(channel, "send or recv", b"m" + data)[self._there]
        if heard:
            self._kept.append(heard[1:])
        return b""

    def _received(self, channel: Channel) -> bytes:
        if self._kept:
            return self._kept.popleft()
        heard = gather_bytes(channel, "send or recv", b"")[self._there]
        if not heard:
            raise PeerError(
                f"the ranks {channel.ranks} both receive, and neither sends: one of them has to "
                "call send() first"
            )
        return heard[1:]


def pair_with(other: int) -> Pair:
    """The pair of this process and another one."""
    if other not in _PAIRS:
        _PAIRS[other] = Pair(other)
    return _PAIRS[other]

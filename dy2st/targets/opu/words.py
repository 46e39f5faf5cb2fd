"""Encodes operations to the OPU's 32-bit words and decodes them, with the places of blocks.

A program begins with PROGRAM and ends with network_done. Between, every operation is one block:
the words whose registers change, WAIT if it waits, and the word of its engine, LOAD, COMPUTE or
STORE, which ends the block. Registers are 0 at first and keep their values from block to block.

WAIT holds the low 8 bits of the counts. They mean the largest counts that are not above the
operations before, so nothing can wait for ever; the compiler keeps them within 255 of it. A wait
that the bounded queues make true anyhow is left out: `canonical` shows the operations as they are
read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dy2st.errors import ArgumentError, FormatError
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.operations import (
    FRACTION,
    Compute,
    Kind,
    Load,
    Operation,
    Pool,
    Store,
    Waits,
)
from dy2st.targets.opu.timing import NAMES, engine_of, pooled_size, waits_of
from dy2st.targets.opu.word_table import (
    COMPUTE_WORD,
    DONE_WORD,
    LOAD_WORD,
    MAGIC,
    PROGRAM_WORD,
    REGISTERS,
    STORE_WORD,
    VERSION,
    WAIT_WORD,
    WORDS,
    place_of,
    registers_of_words,
    used_bits,
)

Array = np.ndarray[Any, Any]
Fields = list[tuple[str, int]]
Taps = tuple[tuple[int, int], ...]
MORE = 1 << 31
"""The bit of a word that others of its block follow."""

WEIGHTED, UNWEIGHTED = 1, 2
HARD_SWISH = 4
_ADDRESSES = ("load_features_at", "load_weights_at", "load_bias_at", "load_residual_at")
_ENGINES = (LOAD_WORD, COMPUTE_WORD, STORE_WORD)
_FREE_WORDS = {*_ENGINES, WAIT_WORD, DONE_WORD, PROGRAM_WORD}
_USED = used_bits()
_SET_BY = registers_of_words()


@dataclass(frozen=True)
class Block:
    """One operation and the words [first, first + count) that it is fetched with."""

    operation: Operation
    first: int
    count: int


def canonical(operations: Sequence[Operation], machine: Machine) -> list[Operation]:
    """The operations as `decode` gives them, but with their origins.

    Waits that always hold are 0, the pitch of a single row is its width, and the row of a residual
    that there is not is 0.
    """
    counted = _shortened_waits(operations, machine)
    made = []
    for operation, waits in zip(operations, counted, strict=True):
        found: Operation = replace(operation, waits=Waits(*waits))
        if isinstance(found, Load) and found.height == 1:
            found = replace(found, pitch=found.width)
        elif isinstance(found, Store) and found.residual_bank is None:
            found = replace(found, residual_row=0)
        made.append(found)
    return made


def _shortened_waits(
    operations: Sequence[Operation], machine: Machine
) -> list[tuple[int, int, int]]:
    if not 1 <= machine.queue <= 254:
        raise ArgumentError(
            f"machine {machine.name}: queue is {machine.queue}, 1 to 254 have words"
        )
    kinds = [engine_of(operation) for operation in operations]
    before = [0, 0, 0]
    found = []
    for wanted, kind in zip(waits_of(operations, kinds), kinds, strict=True):
        loads, computes, stores = (
            count if count > issued - machine.queue - 1 else 0
            for count, issued in zip(wanted, before, strict=True)
        )
        found.append((loads, computes, stores))
        before[kind] += 1
    return found


# -- encode ----------------------------------------------------------------------------------------
def encode(operations: Sequence[Operation], machine: Machine) -> Array:
    """The uint32 words of a program.

    Raises ArgumentError, with the operation, its layer and tile, for a value that its field cannot
    hold, and for a wait for what does not come before.
    """
    state: dict[int, int] = {}
    sent: dict[str, int] = {}
    before = [0, 0, 0]
    header = _word(PROGRAM_WORD, version=VERSION, macs_by_64=machine.macs // CHANNELS, magic=MAGIC)
    words = [header | MORE]
    waits = _shortened_waits(operations, machine)
    for index, (operation, wanted) in enumerate(zip(operations, waits, strict=True)):
        try:
            kind, fields, last = _said(operation, machine)
            # the words of those registers that have other values now
            pending: dict[int, int] = {}
            for name, value in fields:
                if sent.get(name) == value:
                    continue
                register = REGISTERS[name]
                if not register.least <= value <= register.most:
                    places = " and ".join(f"{f} of word {place_of(f)[0]}" for f in register.fields)
                    raise ArgumentError(
                        f"{name} is {value}, {register.least} to {register.most} fit ({places})"
                    )
                sent[name] = value
                for opcode, low, width in register.parts:
                    mask = (1 << width) - 1
                    old = pending[opcode] if opcode in pending else state.get(opcode, 0)
                    pending[opcode] = old & ~(mask << low) | (value & mask) << low
                    value >>= width
            changed = [op for op in sorted(pending) if pending[op] != state.get(op, 0)]
            state.update(pending)
            words += [pending[opcode] | opcode | MORE for opcode in changed]
        except ArgumentError as error:
            origin = operation.origin
            tile = f" tile {origin.tile}" if origin and origin.tile else ""
            of = f" of layer {origin.layer}{tile}" if origin else ""
            where = f"operation {index}, a {NAMES[engine_of(operation)]}{of}"
            raise ArgumentError(f"{where}: {error}") from None
        if any(wanted):
            # counts modulo 256; where there is no wait, one that is long over
            bits = [w or max(0, n - 255) for w, n in zip(wanted, before, strict=True)]
            words.append(
                _word(WAIT_WORD, ld=bits[0] % 256, pe=bits[1] % 256, st=bits[2] % 256) | MORE
            )
        words.append(last)
        before[kind] += 1
    words.append(_word(DONE_WORD, network_done=1))
    if len(words) > machine.instruction_words:
        raise ArgumentError(
            f"the program has {len(words)} words, machine {machine.name} holds "
            f"{machine.instruction_words}"
        )
    return np.array(words, np.uint32)


def _word(opcode: int, **fields: int) -> int:
    """A word without registers."""
    word = opcode
    for name, value in fields.items():
        _, low, bits = place_of(name)
        if not 0 <= value < 1 << bits:
            raise ArgumentError(f"{name} is {value}, the field holds 0 to {(1 << bits) - 1}")
        word |= value << low
    return word


def _said(operation: Operation, machine: Machine) -> tuple[int, Fields, int]:
    """Queue, registers and last word of an operation."""
    kind = engine_of(operation)
    if isinstance(operation, Load):
        return kind, _load(operation), _word(LOAD_WORD, ddr_load_type=1 << operation.kind)
    if isinstance(operation, Compute):
        names = (
            *("channels", "outputs", "height", "width", "in_width", "is_depthwise"),
            *("stride_y", "stride_x", "dilation_y", "dilation_x", "is_first"),
            *("shift_features", "shift_bias", "feature_bank", "feature_row"),
            *("weight_bank", "weight_row", "bias_bank", "psum_row"),
        )
        fields = [(name, int(getattr(operation, name))) for name in names]
        fields.append(("type", WEIGHTED if operation.is_weighted else UNWEIGHTED))
        fields.append(("rounds", _rounds_code(operation.channels, operation.outputs, machine)))
        fields += _taps(operation.taps)
        return kind, fields, _word(COMPUTE_WORD)
    fields = [
        ("store_outputs", operation.outputs),
        ("store_height", operation.height),
        ("store_width", operation.width),
        ("store_psum_row", operation.psum_row),
        ("store_at", operation.address),
        ("store_pitch", operation.pitch),
        ("store_activation", operation.activation),
        ("store_limit", operation.limit),
        ("step_y", operation.step_y),
        ("step_x", operation.step_x),
        ("store_across_more", operation.across - 1),
    ]
    if operation.activation == HARD_SWISH:
        fields.append(("store_fraction", operation.fraction - FRACTION.start))
    if operation.pool:
        pooled_size(operation)
        edges = ("pool_top", "pool_bottom", "pool_left", "pool_right")
        fields += [
            ("pool_type", operation.pool.kind),
            ("pool_height", operation.pool.height),
            ("pool_width", operation.pool.width),
            ("pool_stride_y", operation.pool.stride_y),
            ("pool_stride_x", operation.pool.stride_x),
            *zip(edges, operation.pool.padding, strict=True),
        ]
    if operation.residual_bank is not None:
        fields += [
            ("residual_bank", operation.residual_bank),
            ("residual_row", operation.residual_row),
        ]
    if operation.upsample != 1:
        fields.append(("upsample_factor", operation.upsample))
    if any(operation.border):
        sides = ("border_top", "border_bottom", "border_left", "border_right")
        fields += zip(sides, operation.border, strict=True)
    return kind, fields, _store_word(operation)


def _load(load: Load) -> Fields:
    fields = [
        (_ADDRESSES[load.kind], load.address),
        ("load_bank", load.bank),
        ("load_row", load.row),
    ]
    if load.kind in (Kind.WEIGHTS, Kind.BIAS):
        if load.height != 1:
            raise ArgumentError(f"{load.kind.name.lower()} are one row, not {load.height}")
        words = "load_weights_words" if load.kind == Kind.WEIGHTS else "load_bias_words"
        return [*fields, (words, load.width)]
    fields += [("load_width", load.width), ("load_height", load.height)]
    return fields if load.height == 1 else [*fields, ("load_pitch", load.pitch)]


def _rounds_code(channels: int, outputs: int, machine: Machine) -> int:
    return machine.rounds(channels, outputs) % 64


@lru_cache(maxsize=4096)
def _taps(taps: Taps) -> tuple[tuple[str, int], ...]:
    """Registers of a run of taps, row by row through a rectangle from some tap of it on."""
    columns = [s for _, s in taps]
    if taps:
        least, most = min(columns), max(columns)
        for up, left in ((0, 0), (1, 1), (0, 1), (1, 0)):
            run = (*taps[0], least, most, len(taps), up, left)
            if _run_of_taps(*run) == taps:
                names = ("tap_y", "tap_x", "tap_x_min", "tap_x_max", "tap_count")
                return tuple(zip((*names, "tap_up", "tap_left"), run, strict=True))
    raise ArgumentError(f"the taps {taps} are not one run, row by row, through a rectangle")


@lru_cache(maxsize=4096)
def _run_of_taps(y: int, x: int, least: int, most: int, count: int, up: int, left: int) -> Taps:
    found = []
    first, step = (most, -1) if left else (least, 1)
    for _ in range(count):
        found.append((y, x))
        x += step
        if not least <= x <= most:
            y, x = y + (-1 if up else 1), first
    return tuple(found)


def _store_word(store: Store) -> int:
    return _word(
        STORE_WORD,
        padding=int(any(store.border)),
        pooling=int(store.pool is not None),
        activation=int(store.activation != 0),
        upsample=int(store.upsample != 1),
        residual=int(store.residual_bank is not None),
        ddr_save_pos=store.order,
    )


# -- decode ----------------------------------------------------------------------------------------
def decode(words: Array, machine: Machine) -> list[Operation]:
    """The operations of a program's words; FormatError for a truncated or a foreign program."""
    return [block.operation for block in blocks(words, machine)]


def blocks(words: Array, machine: Machine) -> list[Block]:
    """The operations with the words that they are fetched with; the first has PROGRAM too."""
    if not isinstance(words, np.ndarray) or words.dtype != np.uint32 or words.ndim != 1:
        raise FormatError("a program is a flat array of uint32")
    return list(_Decoder(machine).blocks(words))


def fetch_times(found: Sequence[Block]) -> list[int]:
    """Instruction words of every operation, for `time_operations`."""
    return [block.count for block in found]


class _Decoder:
    """The registers while words are read."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.state: dict[int, int] = {}
        self.values: dict[str, int] = {}  # of the state, as far as they were asked for
        self.before = [0, 0, 0]
        self.waits = Waits()
        self.at = 0

    def blocks(self, words: Array) -> Iterator[Block]:
        """All blocks; the words end with network_done."""
        self.header(words)
        first = 0
        for self.at, word in enumerate(words.tolist()[1:], 1):
            opcode = word & 63
            if opcode == DONE_WORD:
                self.done(word, len(words), first)
                return
            self.check(word, opcode)
            if opcode in _ENGINES:
                yield Block(self.operation(word, opcode), first, self.at + 1 - first)
                first, self.waits = self.at + 1, Waits()
        raise FormatError(
            f"the program is truncated: its {len(words)} words do not end with network_done"
        )

    def header(self, words: Array) -> None:
        """Refuse what is of another kind, version or machine."""
        word = int(words[0]) if len(words) else 0
        fields = {name: _bits(word, name) for name in WORDS[PROGRAM_WORD].fields}
        if word & 63 != PROGRAM_WORD or fields["magic"] != MAGIC or not word & MORE:
            raise FormatError(
                f"this is no program of dy2st: its first word is {word:#010x}, not PROGRAM"
            )
        if fields["version"] != VERSION:
            raise FormatError(f"the program has version {fields['version']}, {VERSION} is known")
        if fields["macs_by_64"] * CHANNELS != self.machine.macs:
            raise FormatError(
                f"the program is for {fields['macs_by_64'] * CHANNELS} multipliers, machine "
                f"{self.machine.name} has {self.machine.macs}"
            )

    def done(self, word: int, count: int, first: int) -> None:
        """network_done is the last word, and a block of its own."""
        if word != _word(DONE_WORD, network_done=1) or max(first, 1) != self.at:
            raise self.error("network_done is not a block of its own")
        if count != self.at + 1:
            raise self.error(f"{count - self.at - 1} words follow network_done")

    def check(self, word: int, opcode: int) -> None:
        """Take registers and waits; refuse opcodes and bits that no program of ours has."""
        if (opcode in _ENGINES) == bool(word & MORE):
            raise self.error("a block ends with LOAD, COMPUTE or STORE, and with nothing else")
        payload = word & (MORE - 1) & ~63
        if opcode in _USED:
            if payload & ~_USED[opcode]:
                raise self.error(f"word {opcode} has bits that no field in use has")
            self.state[opcode] = payload
            for name in _SET_BY[opcode]:
                self.values.pop(name, None)
        elif opcode == WAIT_WORD:
            counts = [_bits(word, name) for name in ("ld", "pe", "st")]
            self.waits = Waits(*map(self.waited, counts, self.before, NAMES))
        elif opcode not in _FREE_WORDS or opcode == PROGRAM_WORD:
            raise self.error(f"opcode {opcode} is not used in programs of ours")

    def waited(self, low: int, issued: int, name: str) -> int:
        """The count of which a WAIT has the low bits."""
        count = issued - (issued - low) % 256
        if count < 0:
            raise self.error(f"it waits for {low} {name}s, but only {issued} come before it")
        return count if count > issued - self.machine.queue - 1 else 0

    def operation(self, word: int, opcode: int) -> Operation:
        """What the registers and the last word of a block say."""
        kind = _ENGINES.index(opcode)
        made = (self.load, self.compute, self.store)[kind](word)
        self.before[kind] += 1
        return made

    def value(self, name: str) -> int:
        """The value of a register, in its range."""
        known = self.values.get(name)
        if known is not None:
            return known
        register = REGISTERS[name]
        value = place = 0
        for opcode, low, bits in register.parts:
            value |= (self.state.get(opcode, 0) >> low & ((1 << bits) - 1)) << place
            place += bits
        if not register.least <= value <= register.most:
            raise self.error(f"{name} is {value}, {register.least} to {register.most} are legal")
        self.values[name] = value
        return value

    def load(self, word: int) -> Load:
        """A Load from its word and registers."""
        code = _bits(word, "ddr_load_type")
        if code not in (1, 2, 4, 8) or word & ~63 != code << 6:
            raise self.error("LOAD brings one of features, weights, bias and residual")
        kind = Kind(code.bit_length() - 1)
        if kind in (Kind.WEIGHTS, Kind.BIAS):
            words = "load_weights_words" if kind == Kind.WEIGHTS else "load_bias_words"
            width, height = self.value(words), 1
        else:
            width, height = self.value("load_width"), self.value("load_height")
        return Load(
            kind=kind,
            address=self.value(_ADDRESSES[kind]),
            height=height,
            width=width,
            pitch=width if height == 1 else self.value("load_pitch"),
            bank=self.value("load_bank"),
            row=self.value("load_row"),
            waits=self.waits,
        )

    def compute(self, word: int) -> Compute:
        """A Compute from its registers."""
        if word != COMPUTE_WORD:
            raise self.error("COMPUTE has trigger codes; programs of ours have WAIT")
        of = self.value
        channels, outputs = of("channels"), of("outputs")
        if of("rounds") != _rounds_code(channels, outputs, self.machine):
            raise self.error(f"{of('rounds')} rounds are not those of {self.machine.name}")
        return Compute(
            channels=channels,
            outputs=outputs,
            height=of("height"),
            width=of("width"),
            in_width=of("in_width"),
            stride_y=of("stride_y"),
            stride_x=of("stride_x"),
            dilation_y=of("dilation_y"),
            dilation_x=of("dilation_x"),
            taps=self.taps(),
            is_first=bool(of("is_first")),
            is_weighted=of("type") == WEIGHTED,
            is_depthwise=bool(of("is_depthwise")),
            shift_features=of("shift_features"),
            shift_bias=of("shift_bias"),
            feature_bank=of("feature_bank"),
            feature_row=of("feature_row"),
            weight_bank=of("weight_bank"),
            weight_row=of("weight_row"),
            bias_bank=of("bias_bank"),
            psum_row=of("psum_row"),
            waits=self.waits,
        )

    def taps(self) -> Taps:
        """The run of taps; all within 0 to 15."""
        names = ("tap_y", "tap_x", "tap_x_min", "tap_x_max", "tap_count", "tap_up", "tap_left")
        y, x, least, most, count, up, left = map(self.value, names)
        found = _run_of_taps(y, x, least, most, count, up, left) if least <= x <= most else ()
        if not found or not 0 <= found[-1][0] <= 15:
            raise self.error("the run of taps leaves the kernel")
        return found

    def store(self, word: int) -> Store:
        """A Store from its word and registers."""
        of = self.value
        enabled = WORDS[STORE_WORD].fields
        on = {name: bool(_bits(word, name)) for name in enabled}
        order = _bits(word, "ddr_save_pos")
        activation = of("store_activation")
        if activation == 3:
            raise self.error("activation 3, a hard sigmoid, is not used in programs of ours")
        is_swish = activation == HARD_SWISH
        store = Store(
            outputs=of("store_outputs"),
            height=of("store_height"),
            width=of("store_width"),
            psum_row=of("store_psum_row"),
            address=of("store_at"),
            pitch=of("store_pitch"),
            order=order,
            activation=activation,
            limit=of("store_limit"),
            fraction=of("store_fraction") + FRACTION.start if is_swish else 0,
            pool=self.pool() if on["pooling"] else None,
            residual_bank=of("residual_bank") if on["residual"] else None,
            residual_row=of("residual_row") if on["residual"] else 0,
            upsample=of("upsample_factor") if on["upsample"] else 1,
            step_y=of("step_y"),
            step_x=of("step_x"),
            across=of("store_across_more") + 1,
            border=self.sides("border") if on["padding"] else (0, 0, 0, 0),
            waits=self.waits,
        )
        try:
            pooled_size(store)
        except ArgumentError as error:
            raise self.error(str(error)) from None
        if word != _store_word(store):
            raise self.error("STORE has trigger codes or does not agree with its registers")
        return store

    def pool(self) -> Pool:
        """The window of a store."""
        names = ("pool_type", "pool_height", "pool_width", "pool_stride_y", "pool_stride_x")
        kind, height, width, stride_y, stride_x = map(self.value, names)
        return Pool(
            kind=kind,
            height=height,
            width=width,
            stride_y=stride_y,
            stride_x=stride_x,
            padding=self.sides("pool"),
        )

    def sides(self, of: str) -> tuple[int, int, int, int]:
        """Four registers: top, bottom, left, right."""
        top, bottom, left, right = (
            self.value(f"{of}_{side}") for side in ("top", "bottom", "left", "right")
        )
        return top, bottom, left, right

    def error(self, what: str) -> FormatError:
        """A refusal with the place in the words."""
        return FormatError(f"word {self.at} of the program: {what}")


def _bits(word: int, field: str) -> int:
    _, low, bits = place_of(field)
    return word >> low & ((1 << bits) - 1)


__all__ = ["Block", "blocks", "canonical", "decode", "encode", "fetch_times"]

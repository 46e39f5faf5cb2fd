"""Describes the 32-bit words of the OPU: every opcode with its fields, in one table.

Bits 5..0 are the opcode, bit 31 is 0 in the last word of a block. Words 0 to 33 are those of the
public machine (`ours` is False); of their fields the Operations use those that `REGISTERS` names,
and the others stay 0. Words from 34 on are ours: what a program needs beyond. Where a value is
wider than its public field, its high bits are in a word of ours, which is sent only where they
change.
"""

from __future__ import annotations

from dataclasses import dataclass

LOAD_WORD, COMPUTE_WORD, STORE_WORD = 11, 12, 19
WAIT_WORD, DONE_WORD, PROGRAM_WORD = 34, 22, 63
MAGIC = 0x2F50
VERSION = 1


@dataclass(frozen=True)
class Word:
    """One opcode: name, fields as name -> (high bit, low bit), and whether it is of ours."""

    opcode: int
    name: str
    fields: dict[str, tuple[int, int]]
    ours: bool = False


def _words(text: str, ours: bool) -> dict[int, Word]:
    found = {}
    for line in text.strip().splitlines():
        opcode, name, *fields = line.split()
        bits = {}
        for field in fields:
            of, _, place = field.rstrip("]").partition("[")
            high, _, low = place.partition(":")
            bits[of] = (int(high), int(low or high))
        found[int(opcode)] = Word(int(opcode), name, bits, ours)
    return found


_PUBLIC = """
0 dma_block dma_block_x[12:6] dma_block_y[19:13] dw_flag[20]
1 fm_in fm_in_x[17:6] fm_in_y[29:18]
2 channels channel_in[16:6] channel_out[27:17]
3 ddr_fm_addr ddr_fm_addr[30:6]
4 ddr_ker_addr ddr_ker_addr[30:6]
5 ddr_bias_addr ddr_bias_addr[30:6]
6 ddr_res_addr ddr_res_addr[30:6]
7 fm_read_num ddr_fm_read_num[20:6]
8 ker_read_num ddr_ker_read_num[20:6]
9 bias_read_num ddr_bias_read_num[20:6]
10 fm_save_num ddr_fm_save_num[20:6]
11 LOAD ddr_load_type[10:6] ddr_load_start_dma_num[19:11] ddr_load_start_trig[22:20] \
ker_on_board[28:23] ddr_load_single[29]
12 COMPUTE x_min[9:6] x_max[16:10] y_min[20:17] y_max[27:21] dma_start_trig[30:28]
13 kernel ker_repeat[10:6] read_x_stride[13:11] read_y_stride[16:14] ker_x[20:17] ker_y[24:21]
14 rounds output_num[8:6] ker_round[14:9] type[17:15]
15 kernel_rows ker_addr_s[11:6] ker_addr_e[17:12] dma_shift_dir[18] dma_shift[22:19] \
ker_repeat_last[27:23] copy_mode[29:28]
16 output trig_output_start[9:6] cut_pos[14:10] shift_num[19:15] add_bias[20] add_temp[21] \
final_output[22] output_final_block[23] output_channel[30:24]
17 shift shift_num_fm[30:26]
18 post pool_dep[6] pool_x_size[10:7] pool_y_size[14:11] pool_type[16:15] pool_x_stride[19:17] \
pool_y_stride[22:20] activation_type[26:23] padding_size[29:27] ddr_write_choice[30]
19 STORE padding[6] pooling[7] activation[8] upsample[9] residual[10] block_pool_x[17:11] \
block_pool_y[24:18] ddr_save_start_trig[27:25] ddr_save_des[28] ddr_save_pos[30:29]
20 fm_output_addr fm_output_addr[30:6]
21 ddr_ins_addr ddr_ins_addr[30:6]
22 network_done network_done[6]
23 output_block output_block_x[12:6] output_block_y[19:13]
24 mask_high ddr_save_mask_high[30:6]
25 mask_middle ddr_save_mask_middle[30:6]
26 mask_low ddr_save_mask_low[19:6]
27 pool_padding pool_pad_d[8:6] pool_pad_u[11:9] pool_pad_r[14:12] pool_pad_l[17:15]
28 load_block ddr_load_block_x[12:6] ddr_load_block_y[19:13]
29 save_block ddr_save_block_x[12:6] ddr_save_block_y[19:13] average_pool_para[27:20]
30 out_range out_x_min[9:6] out_x_max[16:10] out_y_min[20:17] out_y_max[27:21] default_flag[28]
31 out_stride out_x_stride[12:6] out_y_stride[19:13]
32 se fc_out[13:6] fc_in[16:14] stage[19:17]
33 fm_out fm_out_x[17:6] fm_out_y[29:18]
"""

_OURS = """
34 WAIT ld[13:6] pe[21:14] st[29:22]
35 post_padding pad_d[8:6] pad_u[11:9] pad_r[14:12] pad_l[17:15] pad_d_high[20:18] \
pad_u_high[23:21] pad_r_high[26:24] pad_l_high[29:27]
36 load_place load_bank[9:6] load_row[25:10]
37 feature_place feature_bank[9:6] feature_row[25:10]
38 weight_place weight_bank[9:6] bias_bank[13:10] weight_row_high[23:14]
39 psum_place psum_row[21:6]
40 store_place store_psum_row[21:6] residual_bank[25:22] across_more[28:26]
41 residual_place residual_row[21:6] limit[28:22]
42 taps tap_x_min[9:6] tap_x_max[13:10] tap_count[21:14] tap_up[22] tap_left[23]
43 dilation dilation_x[12:6] dilation_y[19:13]
44 tile_high output_block_x_high[10:6] output_block_y_high[15:11] dma_block_x_high[20:16]
45 load_high load_x_high[13:6] load_y_high[18:14]
46 save_high save_x_high[10:6] save_y_high[15:11] upsample_factor[19:16] fraction[25:20]
47 pitch_high fm_in_x_high[18:6] fm_out_x_high[30:19]
48 pool_high pool_x_high[9:6] pool_y_high[13:10] pool_x_stride_high[16:14] \
pool_y_stride_high[19:17] pool_pad_d_high[21:20] pool_pad_u_high[23:22] pool_pad_r_high[25:24] \
pool_pad_l_high[27:26]
63 PROGRAM version[9:6] macs_by_64[16:10] magic[30:17]
"""

WORDS: dict[int, Word] = {**_words(_PUBLIC, False), **_words(_OURS, True)}
"""Every word by its opcode."""

_REGISTERS = """
load_features_at ddr_fm_addr
load_weights_at ddr_ker_addr
load_bias_at ddr_bias_addr
load_residual_at ddr_res_addr
load_weights_words ddr_ker_read_num
load_bias_words ddr_bias_read_num
load_width ddr_load_block_x load_x_high
load_height ddr_load_block_y load_y_high
load_pitch fm_in_x fm_in_x_high
load_bank load_bank
load_row load_row
channels channel_in
outputs channel_out
height output_block_y output_block_y_high
width output_block_x output_block_x_high
in_width dma_block_x dma_block_x_high
is_depthwise dw_flag
stride_y read_y_stride
stride_x read_x_stride
dilation_y dilation_y
dilation_x dilation_x
tap_y ker_y
tap_x ker_x
tap_x_min tap_x_min
tap_x_max tap_x_max
tap_count tap_count
tap_up tap_up
tap_left tap_left
type type
rounds ker_round
is_first add_bias
shift_features shift_num_fm
shift_bias shift_num
feature_bank feature_bank
feature_row feature_row
weight_bank weight_bank
weight_row ker_addr_s weight_row_high
bias_bank bias_bank
psum_row psum_row
store_outputs output_channel
store_height ddr_save_block_y save_y_high
store_width ddr_save_block_x save_x_high
store_psum_row store_psum_row
store_at fm_output_addr
store_pitch fm_out_x fm_out_x_high
store_activation activation_type
store_limit limit
pool_type pool_type
pool_height pool_y_size pool_y_high
pool_width pool_x_size pool_x_high
pool_stride_y pool_y_stride pool_y_stride_high
pool_stride_x pool_x_stride pool_x_stride_high
pool_top pool_pad_u pool_pad_u_high
pool_bottom pool_pad_d pool_pad_d_high
pool_left pool_pad_l pool_pad_l_high
pool_right pool_pad_r pool_pad_r_high
residual_bank residual_bank
residual_row residual_row
store_across_more across_more
upsample_factor upsample_factor
store_fraction fraction
step_y out_y_stride
step_x out_x_stride
border_top pad_u pad_u_high
border_bottom pad_d pad_d_high
border_left pad_l pad_l_high
border_right pad_r pad_r_high
"""

_AT_LEAST_ONE = {
    *("channels", "outputs", "height", "width", "in_width", "stride_y", "stride_x", "tap_count"),
    *("dilation_y", "dilation_x", "load_width", "load_height", "store_outputs", "store_height"),
    *("store_width", "pool_type", "pool_height", "pool_width", "pool_stride_y", "pool_stride_x"),
    *("upsample_factor", "step_y", "step_x", "load_weights_words", "load_bias_words", "type"),
}
_MOST = {
    **{"channels": 64, "outputs": 64, "store_outputs": 64, "pool_type": 2, "type": 2},
    **{"store_activation": 4, "store_fraction": 47},
}

_PLACES = {
    name: (word.opcode, low, high - low + 1)
    for word in WORDS.values()
    for name, (high, low) in word.fields.items()
}


@dataclass(frozen=True)
class Register:
    """A value from `least` to `most` that words set.

    parts   (opcode, low bit, bits), from its low bits on; `fields` are their names.
    """

    name: str
    parts: tuple[tuple[int, int, int], ...]
    fields: tuple[str, ...]
    least: int
    most: int


def _registers() -> dict[str, Register]:
    found = {}
    for line in _REGISTERS.strip().splitlines():
        name, *fields = line.split()
        parts = tuple(_PLACES[field] for field in fields)
        most = _MOST.get(name, (1 << sum(bits for _, _, bits in parts)) - 1)
        found[name] = Register(name, parts, tuple(fields), int(name in _AT_LEAST_ONE), most)
    return found


REGISTERS: dict[str, Register] = _registers()
"""What Operations need of the words, by our names."""


def place_of(field: str) -> tuple[int, int, int]:
    """Opcode, low bit and number of bits of a field."""
    return _PLACES[field]


def registers_of_words() -> dict[int, tuple[str, ...]]:
    """For every word that sets registers, which."""
    found: dict[int, tuple[str, ...]] = {}
    for register in REGISTERS.values():
        for opcode, _, _ in register.parts:
            found[opcode] = (*found.get(opcode, ()), register.name)
    return found


def used_bits() -> dict[int, int]:
    """For every word that sets registers, the bits that may be other than 0."""
    found: dict[int, int] = {}
    for register in REGISTERS.values():
        for opcode, low, bits in register.parts:
            found[opcode] = found.get(opcode, 0) | ((1 << bits) - 1) << low
    return found


def as_markdown() -> str:
    """The table of all words for people: fields in `code` are used, the others stay 0."""
    used = {field for register in REGISTERS.values() for field in register.fields} | _TRIGGERS
    lines = ["| opcode | word | whose | fields, high bit:low bit |", "| ---: | --- | --- | --- |"]
    for word in WORDS.values():
        shown = []
        for name, (high, low) in word.fields.items():
            text = f"{name} {high}:{low}" if high != low else f"{name} {low}"
            shown.append(f"`{text}`" if name in used else text)
        fields = ", ".join(shown)
        whose = "ours" if word.ours else "public"
        lines.append(f"| {word.opcode} | {word.name} | {whose} | {fields} |")
    return "\n".join(lines) + "\n"


_TRIGGERS = {
    *("ddr_load_type", "padding", "pooling", "activation", "upsample", "residual"),
    *("ddr_save_pos", "network_done", "ld", "pe", "st", "version", "macs_by_64", "magic"),
}
"""Fields that say what a word does, and are no registers."""


__all__ = [
    "COMPUTE_WORD",
    "DONE_WORD",
    "LOAD_WORD",
    "MAGIC",
    "PROGRAM_WORD",
    "REGISTERS",
    "STORE_WORD",
    "VERSION",
    "WAIT_WORD",
    "WORDS",
    "Register",
    "Word",
    "as_markdown",
    "place_of",
    "registers_of_words",
    "used_bits",
]

"""What the operators of a ProgramDesc are called in PIR, and in which order these take operands.

A line of a table is `old: new | operands | results | old attribute = new one`. An operand is the
name of an input; `A|B|@c` is the first of them that is there, `@c` being the attribute c; `A*` is a
list, and `A+` a list of numbers that together are one tensor. `@c` alone is a constant operand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dy2st.importers.paddle.graph import Constant, Node
from dy2st_runtime.errors import FormatError

if TYPE_CHECKING:
    from dy2st.importers.paddle.program_desc import Operator


# Operators that are called the same, by what they take; all give `Out`.
_SAME = {
    "X": "abs acos acosh angle as_complex as_real asin asinh assign atan atanh bernoulli "
    "bitwise_not celu ceil channel_shuffle cholesky conj cos cosh cumprod digamma elu erf erfinv "
    "exp expm1 eigvals flip floor frobenius_norm gelu gumbel_softmax i0 i0e i1 i1e imag lgamma log "
    "log10 log1p log2 log_softmax logcumsumexp logical_not logit logsigmoid logsumexp matrix_power "
    "maxout mean_all mish multinomial p_norm pixel_shuffle pixel_unshuffle poisson real reciprocal "
    "relu relu6 renorm round rsqrt selu share_data sigmoid sign silu sin sinh softmax softplus "
    "softsign sqrt square squared_l2_norm stanh swish tan tanh tanh_shrink temporal_shift "
    "thresholded_relu trunc unbind is_empty crop as_strided pad memcpy memcpy_d2h "
    "memcpy_h2d copy_to argmax fft_c2c fft_c2r fft_r2c nansum fill_diagonal shuffle_channel",
    "X Y": "bitwise_and bitwise_or bitwise_xor bmm copysign cross dist dot "
    "equal equal_all fmax fmin greater_equal greater_than heaviside kron less_equal less_than "
    "logical_and logical_or logical_xor maximum minimum nextafter not_equal remainder solve "
    "triangular_solve cholesky_solve complex fill_diagonal_tensor",
    "X Index": "gather_nd index_sample index_select",
    "X Index Updates": "scatter_nd_add",
    "X Index AddValue": "index_add",
    "Input X Y": "addmm baddbmm",
    "X Vec": "mv",
    "X Repeats": "repeat_interleave_with_tensor_index",
    "Input": "diag_embed diagonal trace",
    "Ids Parents": "gather_tree",
    "X ROIs RoisNum|boxes_num": "roi_align roi_pool psroi_pool",
    "SortedSequence Values": "searchsorted",
    "Condition X Y": "where",
    "X Weights minlength|@minlength": "bincount",
}

_RENAMED = """
elementwise_add: add | X Y
elementwise_sub: subtract | X Y
elementwise_mul: multiply | X Y
elementwise_div: divide | X Y
elementwise_pow: elementwise_pow | X Y
elementwise_max: maximum | X Y
elementwise_min: minimum | X Y
elementwise_mod: remainder | X Y
elementwise_floordiv: floor_divide | X Y
elementwise_fmax: fmax | X Y
elementwise_fmin: fmin | X Y
elementwise_heaviside: heaviside | X Y
grad_add: add | X Y
sum: add_n | X*
minus: subtract | X Y
isfinite_v2: isfinite | X
isnan_v2: isnan | X
isinf_v2: isinf | X
isfinite: isfinite | X
hard_swish: hardswish | X
hard_sigmoid: hardsigmoid | X
hard_shrink: hardshrink | X
softshrink: softshrink | X | Out | lambda=threshold
brelu: hardtanh | X
leaky_relu: leaky_relu | X | Out | alpha=negative_slope
prelu: prelu | X Alpha
pow: pow | X FactorTensor | Out | factor=y
clip: clip | X Min|@min Max|@max
lerp: lerp | X Y Weight
cast: cast | X | Out | out_dtype=dtype
scale: scale | X ScaleTensor|@scale
increment: increment | X | Out | step=value
matmul_v2: matmul | X Y | Out | trans_x=transpose_x trans_y=transpose_y
matmul: matmul | X Y | Out | transpose_X=transpose_x transpose_Y=transpose_y
mul: matmul_with_flatten | X Y
multi_dot: multi_dot | X*
einsum: einsum | Operands*
conv2d: conv2d | Input Filter Bias | Output
depthwise_conv2d: conv2d | Input Filter Bias | Output
conv3d: conv3d | Input Filter | Output
conv2d_transpose: conv2d_transpose | Input Filter @output_size Bias | Output
depthwise_conv2d_transpose: conv2d_transpose | Input Filter @output_size Bias | Output
conv3d_transpose: conv3d_transpose | Input Filter | Output
deformable_conv: deformable_conv | Input Offset Filter Mask | Output
pool2d: pool2d | X @ksize
pool3d: pool3d | X | Out | ksize=kernel_size
max_pool2d_with_index: max_pool2d_with_index | X | Out Mask | ksize=kernel_size
max_pool3d_with_index: max_pool3d_with_index | X | Out Mask | ksize=kernel_size
unpool: unpool | X Indices @output_size | Out | ksize=kernel_size
unpool3d: unpool3d | X Indices | Out | ksize=kernel_size
batch_norm: batch_norm | X Mean Variance Scale Bias | Y | data_layout=data_format
sync_batch_norm: batch_norm | X Mean Variance Scale Bias | Y | data_layout=data_format
layer_norm: layer_norm | X Scale Bias | Y Mean Variance
group_norm: group_norm | X Scale Bias | Y Mean Variance | data_layout=data_format
instance_norm: instance_norm | X Scale Bias | Y
norm: norm | X | Out Norm
lrn: lrn | X
spectral_norm: spectral_norm | Weight U V
lookup_table_v2: embedding | Ids W
dropout: dropout | X Seed @dropout_prob | Out Mask | dropout_implementation=mode
rnn: rnn | Input PreState* WeightList* SequenceLength DropoutState | Out DropoutState State* Reserve
reshape2: reshape | X ShapeTensor+|Shape|@shape
transpose2: transpose | X | Out | axis=perm
squeeze2: squeeze | X @axes
unsqueeze2: unsqueeze | X AxesTensor|AxesTensorList+|@axes
flatten_contiguous_range: flatten | X
flatten2: flatten2 | X
concat: concat | X* AxisTensor|@axis
stack: stack | X* | Y
unstack: unstack | X | Y*
unbind: unbind | X | Out*
slice: slice | Input StartsTensor|StartsTensorList+|@starts EndsTensor|EndsTensorList+|@ends
strided_slice: strided_slice | Input StartsTensor|StartsTensorList+|@starts \
EndsTensor|EndsTensorList+|@ends StridesTensor|StridesTensorList+|@strides
expand_v2: expand | X Shape|expand_shapes_tensor+|@shape
expand_as_v2: expand_as | X Y
tile: tile | X RepeatTimes|repeat_times_tensor+|@repeat_times
broadcast_tensors: broadcast_tensors | X* | Out*
meshgrid: meshgrid | X* | Out*
multiplex: multiplex | X* Ids
shape: shape | Input
size: numel | Input
fill_constant_batch_size_like: full_batch_size_like | Input
fill_any_like: full_like | X @value
fill_zeros_like: zeros_like | X
fill_zeros_like2: zeros_like | X
range: arange | Start End Step
linspace: linspace | Start Stop Num
logspace: logspace | Start Stop Num Base
eye: eye | @num_rows @num_columns
tril_indices: tril_indices
triu_indices: triu_indices
diag_v2: diag | X
where_index: nonzero | Condition
gather: gather | X Index Axis|@axis
take_along_axis: take_along_axis | Input Index | Result | Axis=axis
put_along_axis: put_along_axis | Input Index Value | Result | Axis=axis Reduce=reduce
scatter: scatter | X Ids Updates
index_put: index_put | x indices* value | out
masked_select: masked_select | X Mask | Y
one_hot_v2: one_hot | X depth_tensor|@depth
repeat_interleave: repeat_interleave | X RepeatsTensor
gammaln: gammaln | X
inverse: inverse | Input | Output
atan2: atan2 | X1 X2
histogram: histogram | X Weight
fused_rms_norm_quant: fused_rms_norm_quant | X Bias Residual norm_weight norm_bias \
| Out residual_out
fused_bias_residual_layernorm: fused_bias_residual_layernorm \
| X Bias Residual norm_weight norm_bias | Out residual_out
deformable_conv_v1: deformable_conv | Input Offset Filter | Output
rrelu: rrelu | X | Out noise
polygamma: polygamma | X
nanmedian: nanmedian | X | Out MedianIndex
median: median | X | Out MedianIndex
masked_fill: masked_fill | X Mask Value
bitwise_left_shift: bitwise_left_shift | X Y
bitwise_right_shift: bitwise_right_shift | X Y
allclose: allclose | Input Other Rtol|@rtol Atol|@atol
isclose: isclose | Input Other Rtol|@rtol Atol|@atol
gammaincc: gammaincc | X Y
reduce_as: reduce_as | X target
lp_pool2d: lp_pool2d | X @ksize
fractional_max_pool2d: fractional_max_pool2d | X | Out Mask
fractional_max_pool3d: fractional_max_pool3d | X | Out Mask
crop_tensor: crop | X Shape|ShapeTensor+|@shape Offsets|OffsetsTensor+|@offsets
matrix_rank: matrix_rank | X
svdvals: svdvals | X | S
bilinear_tensor_product: bilinear | X Y Weight Bias
empty: empty | ShapeTensor|ShapeTensorList+|@shape
rms_norm: rms_norm | X Scale | Y
swiglu: swiglu | X Y
fused_softmax_mask_upper_triangle: fused_softmax_mask_upper_triangle | X
send_u_recv: send_u_recv | X Src_index Dst_index Out_size | Out Dst_count
top_k_v2: topk | X K|@k | Out Indices
top_k: topk | X K|@k | Out Indices
arg_max: argmax | X @axis
arg_min: argmin | X @axis
argsort: argsort | X | Out Indices
kthvalue: kthvalue | X | Out Indices
mode: mode | X | Out Indices
cummax: cummax | x | out indices
cummin: cummin | x | out indices
unique: unique | X | Out Indices Index Counts
unique_consecutive: unique_consecutive | X | Out Index Counts
reduce_mean: mean | X @dim | Out | keep_dim=keepdim
reduce_sum: sum | X @dim | Out | keep_dim=keepdim out_dtype=dtype
reduce_max: max | X @dim | Out | keep_dim=keepdim
reduce_min: min | X @dim | Out | keep_dim=keepdim
reduce_prod: prod | X @dim | Out | keep_dim=keepdim
reduce_amax: amax | X | Out | keep_dim=keepdim dim=axis
reduce_amin: amin | X | Out | keep_dim=keepdim dim=axis
reduce_all: all | X | Out | keep_dim=keepdim dim=axis
reduce_any: any | X | Out | keep_dim=keepdim dim=axis
mean: mean_all | X
cumsum: cumsum | X @axis
nearest_interp_v2: nearest_interp | X OutSize SizeTensor* Scale | Out | data_layout=data_format
bilinear_interp_v2: bilinear_interp | X OutSize SizeTensor* Scale | Out | data_layout=data_format
bicubic_interp_v2: bicubic_interp | X OutSize SizeTensor* Scale | Out | data_layout=data_format
linear_interp_v2: linear_interp | X OutSize SizeTensor* Scale | Out | data_layout=data_format
trilinear_interp_v2: trilinear_interp | X OutSize SizeTensor* Scale | Out | data_layout=data_format
pad3d: pad3d | X Paddings|@paddings | Out | value=pad_value
pad2d: pad2d | X
grid_sampler: grid_sample | X Grid | Output
affine_grid: affine_grid | Theta OutputShape|@output_shape | Output
unfold: unfold | X | Y
fold: fold | X | Y
roll: roll | X ShiftsTensor|@shifts
sequence_mask: sequence_mask | X MaxLenTensor|@maxlen | Y | out_dtype=out_dtype
label_smooth: label_smooth | X PriorDist
softmax_with_cross_entropy: cross_entropy_with_softmax | Logits Label | Softmax Loss
bce_loss: bce_loss | X Label
sigmoid_cross_entropy_with_logits: sigmoid_cross_entropy_with_logits | X Label pos_weight
huber_loss: huber_loss | X Y | Out Residual
kldiv_loss: kldiv_loss | X Target | Loss
nll_loss: nll_loss | X Label Weight | Out Total_weight
log_loss: log_loss | Predicted Labels | Loss
yolo_box: yolo_box | X ImgSize | Boxes Scores
prior_box: prior_box | Input Image | Boxes Variances
box_coder: box_coder | PriorBox PriorBoxVar TargetBox | OutputBox
box_clip: box_clip | Input ImInfo | Output
nms: nms | Boxes | KeepBoxesIdxs
multiclass_nms: multiclass_nms3 | BBoxes Scores RoisNum | Out Index NmsRoisNum
multiclass_nms2: multiclass_nms3 | BBoxes Scores RoisNum | Out Index NmsRoisNum
multiclass_nms3: multiclass_nms3 | BBoxes Scores RoisNum | Out Index NmsRoisNum
matrix_nms: matrix_nms | BBoxes Scores | Out Index RoisNum
generate_proposals_v2: generate_proposals | Scores BboxDeltas ImShape Anchors Variances \
| RpnRois RpnRoiProbs RpnRoisNum
distribute_fpn_proposals: distribute_fpn_proposals | FpnRois RoisNum \
| MultiFpnRois* MultiLevelRoIsNum* RestoreIndex
write_to_array: array_write | Out X I
read_from_array: array_read | X I
lod_array_length: array_length | X
tensor_array_to_tensor: array_to_tensor | X | Out OutIndex
uniform_random: uniform | ShapeTensor|ShapeTensorList+|@shape @min @max
gaussian_random: gaussian | ShapeTensor|ShapeTensorList+|@shape
randint: randint | ShapeTensor|ShapeTensorList+|@shape
randperm: randperm
svd: svd | X | U S VH
qr: qr | X | Q R
eigh: eigh | X | Eigenvalues Eigenvectors
eigvalsh: eigvalsh | X | Eigenvalues Eigenvectors
eig: eig | X | Eigenvalues Eigenvectors
slogdeterminant: slogdet | Input
determinant: det | Input
lstsq: lstsq | X Y @rcond | Solution Residuals Rank SingularValues
lu: lu | X | Out Pivots Infos
print: print | In
assert: assert | Cond Data*
graph_send_recv: send_u_recv | X Src_index Dst_index Out_size | Out Dst_count
segment_pool: segment_pool | X SegmentIds
viterbi_decode: viterbi_decode | Input Transition Length | Scores Path
shard_index: shard_index | X
overlap_add: overlap_add | X
frame: frame | X
fused_softmax_mask: fused_softmax_mask | X Mask
flash_attn: flash_attn | q k v fixed_seed_offset attn_mask | out softmax softmax_lse seed_offset
"""


@dataclass(frozen=True)
class _Rule:
    name: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ("Out",)
    attributes: tuple[tuple[str, str], ...] = ()


def _rules() -> dict[str, _Rule]:
    found = {
        name: _Rule(name, tuple(operands.split()))
        for operands, names in _SAME.items()
        for name in names.split()
    }
    for line in _RENAMED.strip().replace("\\\n", "").splitlines():
        old, _, rest = line.partition(": ")
        # "|" without spaces stands inside an operand.
        name, operands, results, attributes = (*rest.split(" | "), *[""] * 3)[:4]
        pairs = [tuple(pair.split("=")) for pair in attributes.split()]
        outputs = tuple(results.split()) or ("Out",)
        found[old] = _Rule(name.strip(), tuple(operands.split()), outputs, tuple(pairs))  # type: ignore[arg-type]
    return found


_RULES = _rules()


def renamed(operator: Operator) -> Node:
    """An operator of a ProgramDesc as PIR would have it; one that no rule names stays as it is."""
    special = _SPECIAL.get(operator.type)
    if special is not None:
        return special(operator)
    return _by_rule(operator, _RULES.get(operator.type, _Rule(operator.type)))


def _by_rule(operator: Operator, rule: _Rule) -> Node:
    attributes = dict(operator.attributes)
    for old, new in rule.attributes:
        if old in attributes:
            attributes[new] = attributes.pop(old)
    operands = [_operand(operator, one) for one in rule.operands]
    results: list[Any] = []
    for one in rule.results:
        names = operator.outputs.get(one.rstrip("*").lower(), [])
        results.append(list(names) if one.endswith("*") else names[0] if names else None)
    writes = list(operator.outputs["out"]) if rule.name == "array_write" else []
    return Node(rule.name, operands, attributes, results, [], writes)


def _operand(operator: Operator, text: str) -> Any:
    for name in text.split("|"):
        if name.startswith("@"):
            return Constant(operator.attributes.get(name[1:]))
        plain = name.rstrip("*+")
        found = operator.inputs.get(plain.lower(), [])
        if name == "Out":  # what write_to_array writes into
            found = operator.outputs.get("out", [])
        if name.endswith("*"):
            return [*found]
        if name.endswith("+") and found:
            return [*found]
        if found:
            return found[0]
    return None


def _split(operator: Operator) -> Node:
    if operator.attributes.get("num"):
        return _by_rule(operator, _Rule("split_with_num", ("X", "AxisTensor|@axis"), ("Out*",)))
    sections = "SectionsTensorList+|@sections"
    return _by_rule(operator, _Rule("split", ("X", sections, "AxisTensor|@axis"), ("Out*",)))


def _fill_constant(operator: Operator) -> Node:
    node = _by_rule(
        operator, _Rule("full_with_tensor", ("ValueTensor", "ShapeTensor|ShapeTensorList+|@shape"))
    )
    if node.operands[0] is None:
        text = operator.attributes.get("str_value")
        value = operator.attributes.get("value", 0.0)
        node.operands[0] = Constant(_number(text) if text else value)
    return node


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise FormatError(f"a constant has the value {text!r:.80}, which is no number") from None


def _assign_value(operator: Operator) -> Node:
    given = operator.attributes
    names = ("values", "fp32_values", "int32_values", "int64_values", "bool_values", "int8_values")
    values: list[Any] = next((given[name] for name in names if given.get(name)), [])
    kept = {"shape": given.get("shape"), "dtype": given.get("dtype"), "values": values}
    return Node("assign_value", [], kept, [operator.outputs["out"][0]])


def _tril_triu(operator: Operator) -> Node:
    return _by_rule(operator, _Rule("tril" if operator.attributes.get("lower") else "triu", ("X",)))


def _set_value(operator: Operator) -> Node:
    bounds = [f"{name}TensorList+|@{name.lower()}" for name in ("Starts", "Ends", "Steps")]
    node = _by_rule(operator, _Rule("set_value_with_tensor", ("Input", "ValueTensor", *bounds)))
    if node.operands[1] is None:
        node.name = "set_value"
        del node.operands[1]
        given = operator.attributes
        names = ("values", "fp32_values", "fp64_values", "int32_values", "int64_values")
        names += ("bool_values",)  # type: ignore[assignment]
        node.attributes["values"] = next((given[n] for n in names if given.get(n)), [])
    return node


_SPECIAL: dict[str, Callable[[Operator], Node]] = {
    "split": _split,
    "fill_constant": _fill_constant,
    "assign_value": _assign_value,
    "tril_triu": _tril_triu,
    "set_value": _set_value,
}

__all__ = ["renamed"]

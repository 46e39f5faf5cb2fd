"""What checkers are told where an annotation says `Any`: types by the names of arguments, of results.

The names mean the same in all functions: `x` is a tensor or a number, `kernel_size` an int or one for
each axis. What a function takes or gives otherwise stands in the tables of exceptions.
"""

from __future__ import annotations

TENSOR, TENSORS, PAIR = "Tensor", "list[Tensor]", "tuple[Tensor, Tensor]"
SIZES = "int | Sequence[int]"
ATTR = "ParamAttr | Initializer | str | bool | None"
STATES = "Tensor | Sequence[Tensor]"


def _all(type: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), type)


ARGUMENTS = {
    **_all(
        "TensorLike",
        "x y input label labels weight bias index indices mask values x1 x2 input1 input2 logit "
        "logits other vec mat2 arr updates src query key alpha value boxes boxes_num scores positive "
        "negative anchor segment_ids src_index dst_index condition pred running_mean running_var "
        "sorted_sequence attn_mask src_mask tgt_mask memory_mask memory tgt target real imag abs "
        "angle prob count test_x variance grid theta log_probs input_lengths label_lengths ids "
        "parents image gt_box gt_label gt_score prior_box target_box bbox_deltas anchors variances "
        "bboxes fpn_rois potentials transition_params lengths head_weight path_table path_code tau "
        "lu pivots b weights fweights aweights prepend append pos_weight normalizer sorter residual "
        "rois_num offset img_size q prior_dist category_idxs state block_mask key_padding_mask "
        "sparse_csr_offset sparse_csr_columns startend_row_indices qkv dtensor dist_tensor "
        "rate covariance_matrix precision_matrix scale_tril "
        "norm_weight norm_bias ln_scale ln_bias linear1_weight linear2_weight linear1_bias "
        "linear2_bias ln1_scale ln1_bias ln2_scale ln2_bias qkv_weight linear_weight pre_ln_scale "
        "pre_ln_bias qkv_bias linear_bias tensor mean std low high minlength padding_value "
        "fill_value num_samples num start stop end step",
    ),
    **_all("Any", "array"),
    **_all(
        "TensorLike | Sequence[Any]",
        "loc scale concentration concentration0 concentration1 probs df",
    ),
    **_all("DTypeLike", "dtype input_dtype np_dtype save_dtype d"),
    **_all("ShapeLike", "shape output_sizes out_shape normalized_shape weight_shape"),
    **_all(
        SIZES,
        "stride strides dilation dilations kernel_size kernel_sizes paddings output_padding "
        "axis axes dims perm source destination s n shifts window_size",
    ),
    **_all("int | str | Sequence[int] | Sequence[Sequence[int]]", "padding"),
    **_all("int | Sequence[int | None]", "output_size size"),
    **_all("int | Sequence[int] | Tensor", "num_or_indices num_or_sections repeat_times repeats"),
    **_all("float | Sequence[float] | Tensor", "scale_factor"),
    **_all("Sequence[int | Tensor] | Tensor", "starts ends offsets"),
    **_all(
        "int", "axis0 axis1 dim0 dim1 k diagonal row col num_classes length num_rows num_columns"
    ),
    **_all("int", "downscale_factor upscale_factor groups divisor_override blank"),
    **_all("float", "margin epsilon threshold base norm_type fastemit_lambda lower upper"),
    **_all("str", "data_format reduction mode message"),
    **_all("bool", "ceil_mode return_mask exclusive keepdim full swap log_input"),
    **_all("str", "name"),
    **_all("Tensor", "out output out_tensor in_tensor grad_tensor"),
    **_all("Sequence[Tensor]", "inputs tensors"),
    **_all("Tensor | Sequence[Tensor]", "outputs ys xs grad_outputs no_grad_vars grad_tensors"),
    **_all("Place | str", "device place"),
    **_all(
        ATTR,
        "weight_attr bias_attr weight_ih_attr weight_hh_attr bias_ih_attr bias_hh_attr attr "
        "param_attr",
    ),
    **_all(STATES, "initial_states states"),
    **_all("Tensor", "sequence_length"),
    **_all("Layer", "cell cell_fw cell_bw model layer"),
}
"""By the name of an argument whose annotation says nothing."""

OF_FUNCTION = {
    ("argwhere", "input"): "TensorLike",
    ("broadcast_tensors", "input"): "Sequence[Tensor]",
    ("broadcast_tensors", "inputs"): "Sequence[Tensor]",
    ("meshgrid", "args"): "Tensor | Sequence[Tensor]",
    ("atleast_1d", "inputs"): "TensorLike",
    ("atleast_2d", "inputs"): "TensorLike",
    ("atleast_3d", "inputs"): "TensorLike",
    ("concat", "x"): "Sequence[TensorLike]",
    ("concatenate", "x"): "Sequence[TensorLike]",
    ("stack", "x"): "Sequence[TensorLike]",
    ("hstack", "x"): "Sequence[TensorLike]",
    ("vstack", "x"): "Sequence[TensorLike]",
    ("dstack", "x"): "Sequence[TensorLike]",
    ("column_stack", "x"): "Sequence[TensorLike]",
    ("row_stack", "x"): "Sequence[TensorLike]",
    ("cat", "tensors"): "Sequence[TensorLike]",
    ("add_n", "inputs"): "Tensor | Sequence[Tensor]",
    ("backward", "tensors"): "Tensor | Sequence[Tensor]",
    ("grad", "inputs"): "Tensor | Sequence[Tensor]",
    ("multi_dot", "x"): "Sequence[TensorLike]",
    ("block_diag", "inputs"): "Sequence[TensorLike]",
    ("cartesian_prod", "x"): "Sequence[TensorLike]",
    ("einsum", "operands"): "TensorLike",
    ("is_tensor", "x"): "object",
    ("to_tensor", "data"): "TensorLike | Sequence[Any]",
    ("as_tensor", "data"): "TensorLike | Sequence[Any]",
    ("asarray", "obj"): "Any",
    ("tolist", "x"): "Tensor",
    ("set", "source"): "TensorLike",
    ("_set", "source"): "TensorLike",
    ("set_", "source"): "TensorLike",
    ("pmf", "k"): "TensorLike",
    ("log_pmf", "k"): "TensorLike",
    ("cdf", "k"): "TensorLike",
    ("kl_divergence", "other"): "Distribution",
    ("forward_shape", "shape"): "Sequence[int]",
    ("inverse_shape", "shape"): "Sequence[int]",
    ("view", "shape_or_dtype"): "Sequence[int] | DTypeLike",
    ("pad", "pad"): "int | Sequence[int] | Tensor",
    ("norm", "p"): "float | str",
    ("quantile", "q"): "TensorLike | Sequence[float]",
    ("nanquantile", "q"): "TensorLike | Sequence[float]",
    ("interpolate", "size"): "int | Sequence[int | Tensor] | Tensor",
    ("upsample", "size"): "int | Sequence[int | Tensor] | Tensor",
    ("matrix_norm", "p"): "float | str",
    ("condition_number", "p"): "float | str",
    ("vector_norm", "p"): "float",
    ("bernoulli", "p"): "float",
    ("tensordot", "axes"): "int | Sequence[int] | Sequence[Sequence[int]] | Tensor",
    ("index_put", "indices"): "Sequence[Tensor]",
    ("index_put_", "indices"): "Sequence[Tensor]",
    ("multiplex", "inputs"): "Sequence[Tensor]",
    ("set_default_dtype", "d"): "DTypeLike",
    ("getitem", "index"): "Index",
    ("setitem", "index"): "Index",
    ("save", "obj"): "object",
    ("broadcast_to", "shape"): "ShapeLike",
    ("scatter_nd", "shape"): "ShapeLike",
    ("put_along_axis", "values"): "TensorLike",
    ("clip_grad_norm_", "parameters"): "Tensor | Iterable[Tensor]",
    ("clip_grad_value_", "parameters"): "Tensor | Iterable[Tensor]",
    ("matrix_rank", "tol"): "float | Tensor",
    ("matrix_rank", "rtol"): "float | Tensor",
    ("matrix_rank", "atol"): "float | Tensor",
    ("pinv", "rcond"): "float | Tensor",
    ("clamp", "min"): "float | Tensor",
    ("clamp", "max"): "float | Tensor",
    ("scale", "scale"): "float | Tensor",
    ("default_convert_fn", "batch"): "Any",
}
"""By function and argument, where the name means something else there."""

RESULTS = {
    **_all(PAIR, "eig eigh frexp kthvalue lu qr"),
    **_all("tuple[Tensor, Tensor, Tensor]", "svd"),
    **_all(TENSORS, "meshgrid grad broadcast_tensors split_with_sizes"),
    "stride": "Any",  # of all axes a list, of one a number
    **_all("list[int]", "broadcast_shape broadcast_shapes"),
    **_all("None", "print_ assert_ __init__"),
    **_all("tuple[Tensor, Tensor | None]", "flash_attention flash_attn_qkvpacked"),
    **_all("Parameter", "create_parameter"),
    "form_of": "tuple[np.dtype[Any], tuple[int, ...]]",
    **_all("bool", "is_selected_rows is_sparse is_sparse_coo is_sparse_csr is_tensor"),
    **_all("Any", "item tolist gradient __dlpack__"),
    **_all("str", "get_default_dtype"),
    **_all("np.ndarray[Any, Any]", "numpy"),
}
"""By function, where an annotation says nothing and the result is not one tensor."""

FLAGS = {
    **dict.fromkeys(
        "max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
        "fractional_max_pool2d fractional_max_pool3d".split(),
        ("return_mask", PAIR),
    ),
    "nonzero": ("as_tuple", "tuple[Tensor, ...]"),
    "softmax_with_cross_entropy": ("return_softmax", PAIR),
    "unique": ("return_index return_inverse return_counts", "tuple[Tensor, ...]"),
    "unique_consecutive": ("return_inverse return_counts", "tuple[Tensor, ...]"),
    "lu": ("get_infos", "tuple[Tensor, Tensor, Tensor]"),
}
"""By function: flags with which it gives something else, and what."""

ALONE = {"where": "tuple[Tensor, ...]"}
"""By function: what it gives for its first argument alone; it takes all others or none."""

ATTRIBUTES = {
    "data": "Tensor",
    "device": "str",
    "grad": "Tensor",
    "grad_fn": "Any",
    "name": "str",
    "nbytes": "int",
    "place": "Place",
    "placements": "Any",
    "process_mesh": "Any",
    "shape": "list[int]",
    "size": "int",
    "stop_gradient": "bool",
    "strides": "list[int]",
    "type": "Any",
    "is_cuda": "bool",
}
"""Of tensors."""

OF_PARAMETERS = {
    "optimize_attr": "dict[str, Any]",
    "regularizer": "Any",
    **_all("bool", "need_clip do_model_average is_distributed persistable is_named"),
}

RESULTS_OF_LAYERS = {"GoogLeNet": TENSORS}

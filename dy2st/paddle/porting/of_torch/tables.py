"""Holds what is known of torch's names: other names and arguments here, silent differences."""

from __future__ import annotations

SPACES = {
    "optim.lr_scheduler": "optimizer.lr",
    "optim": "optimizer",
    "utils.data": "io",
    "special": "",
    "distributions": "distribution",
    "nn.utils.rnn": "nn.utils",
    "cuda.amp": "amp",
    "cuda": "device.cuda",
    "Module": "nn.Layer",
    "Optimizer": "optimizer.Optimizer",
}
"""Name spaces that are called otherwise here."""

_INVERSE = {f"arc{name}": f"a{name}" for name in ["cos", "cosh", "sin", "sinh", "tan", "tanh"]}
_FUNCTIONS = {
    **_INVERSE,
    "arctan2": "atan2",
    "absolute": "abs",
    "clamp_max": "clip",
    "clamp_min": "clip",
    "equal": "equal_all",
    "fix": "trunc",
    "gather": "take_along_axis",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "movedim": "moveaxis",
    "mvlgamma": "multigammaln",
    "pinverse": "linalg.pinv",
    "scatter": "put_along_axis",
    "scatter_add": "put_along_axis",
    "trapz": "trapezoid",
    "orgqr": "linalg.householder_product",
}
_METHODS = ("absolute", "equal", "fix", "movedim", "gather", "scatter", "scatter_add", *_INVERSE)

RENAMED = {
    **_FUNCTIONS,
    **{f"Tensor.{name}": f"Tensor.{_FUNCTIONS[name]}" for name in _METHODS},
    **{f"nn.ConvTranspose{n}d": f"nn.Conv{n}DTranspose" for n in (1, 2, 3)},
    **{f"nn.functional.conv_transpose{n}d": f"nn.functional.conv{n}d_transpose" for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": f"nn.functional.conv{n}d_transpose" for n in (1, 2, 3)},
    **{f"nn.MaxUnpool{n}d": f"nn.MaxUnPool{n}D" for n in (1, 2, 3)},
    "Tensor.nelement": "Tensor.numel",
    "compile": "to_static",
    "channel_shuffle": "nn.functional.channel_shuffle",
    "ctc_loss": "nn.functional.ctc_loss",
    "fliplr": "flip",
    "flipud": "flip",
    "inference_mode": "no_grad",
    "istft": "signal.istft",
    "jit.script": "to_static",
    "jit.trace": "to_static",
    "linalg.solve_triangular": "linalg.triangular_solve",
    "nn.DataParallel": "DataParallel",
    "nn.MultiheadAttention": "nn.MultiHeadAttention",
    "nn.RNN": "nn.SimpleRNN",
    "nn.RNNCell": "nn.SimpleRNNCell",
    "nn.functional.multilabel_soft_margin_loss": "nn.functional.multi_label_soft_margin_loss",
    "nn.functional.pdist": "pdist",
    "nn.parallel.DataParallel": "DataParallel",
    "nn.parallel.DistributedDataParallel": "DataParallel",
    "autograd.Function": "autograd.PyLayer",
    "autograd.grad": "grad",
    "cuda.manual_seed": "seed",
    "cuda.manual_seed_all": "seed",
    "optim.RMSprop": "optimizer.RMSProp",
    "optim.lr_scheduler.CosineAnnealingLR": "optimizer.lr.CosineAnnealingDecay",
    "optim.lr_scheduler.ExponentialLR": "optimizer.lr.ExponentialDecay",
    "optim.lr_scheduler.LambdaLR": "optimizer.lr.LambdaDecay",
    "optim.lr_scheduler.MultiStepLR": "optimizer.lr.MultiStepDecay",
    "optim.lr_scheduler.MultiplicativeLR": "optimizer.lr.MultiplicativeDecay",
    "optim.lr_scheduler.PolynomialLR": "optimizer.lr.PolynomialDecay",
    "optim.lr_scheduler.ReduceLROnPlateau": "optimizer.lr.ReduceOnPlateau",
    "optim.lr_scheduler.StepLR": "optimizer.lr.StepDecay",
    "pairwise_distance": "nn.functional.pairwise_distance",
    "pixel_unshuffle": "nn.functional.pixel_unshuffle",
    "special.expit": "nn.functional.sigmoid",
    "special.psi": "digamma",
    "stft": "signal.stft",
    "tensor": "to_tensor",
    "utils.data.DistributedSampler": "io.DistributedBatchSampler",
    "utils.data.SequentialSampler": "io.SequenceSampler",
}
"""Names that are called otherwise here, where no rule says how."""

_DTYPED = "the dtype is an argument: to_tensor(data, dtype='float32')"
_PACKED = "sequences are padded, and sequence_length says how long each is"
_LAZY = "sizes are given: nn.Linear(in_features, out_features)"
_MANY = "dy2st.distributed has PaddlePaddle's names"
_FIRST = "nothing: operators take no such switch"

WHY_NOT = {
    **dict.fromkeys(
        (
            f"{kind}Tensor"
            for kind in ["Bool", "Byte", "Char", "Double", "Float", "Int", "Long", "Short"]
        ),
        _DTYPED,
    ),
    **dict.fromkeys((f"nn.Lazy{kind}{n}d" for kind in ("Conv", "BatchNorm") for n in "123"), _LAZY),
    "Generator": "one generator for all: dy2st.seed(0)",
    "addcdiv": "x + value * a / b",
    "addcmul": "x + value * a * b",
    "as_strided_scatter": "index_put",
    "autograd.Variable": "tensors are it",
    "cuda.current_device": "dy2st.device.get_device()",
    "cuda.set_device": "dy2st.set_device('gpu:0')",
    "device": "a text: 'cpu', 'gpu:0'",
    "distributed": _MANY,
    "embedding_bag": "embedding, and sum, mean or max over the bag",
    "erfc": "1 - erf(x)",
    "exp2": "2.0 ** x",
    "fmod": "x - trunc(x / y) * y: remainder takes the sign of y",
    "get_num_threads": "OMP_NUM_THREADS",
    "histc": "histogram(x, bins, min, max)",
    "linalg.lu_factor": "linalg.lu",
    "logdet": "log(det(x))",
    "nn.EmbeddingBag": "Embedding, and sum, mean or max over the bag",
    "nn.HuberLoss": "SmoothL1Loss(delta=delta, is_huber=True)",
    "nn.LazyLinear": _LAZY,
    "nn.Softmin": "Softmax of -x",
    "nn.functional.huber_loss": "smooth_l1_loss(input, label, delta=delta, is_huber=True)",
    "nn.functional.multi_head_attention_forward": "nn.MultiHeadAttention",
    "nn.functional.softmin": "softmax(-x)",
    "nn.utils.rnn.PackedSequence": _PACKED,
    "nn.utils.rnn.pack_padded_sequence": _PACKED,
    "nn.utils.rnn.pad_packed_sequence": _PACKED,
    "nn.utils.rnn.pad_sequence": "concat of rows that are padded by nn.functional.pad",
    "optim.SparseAdam": "Adam(lazy_mode=True)",
    "optim.lr_scheduler.ChainedScheduler": "a class of LRScheduler whose get_lr multiplies",
    "optim.lr_scheduler.ConstantLR": "optimizer.lr.PiecewiseDecay",
    "optim.lr_scheduler.SequentialLR": "optimizer.lr.LinearWarmup around another one",
    "set_float32_matmul_precision": _FIRST,
    "set_num_threads": "OMP_NUM_THREADS",
    "std_mean": "std(x), mean(x)",
    "torchvision": "dy2st.vision has models, transforms and ops by PaddlePaddle's names",
    "use_deterministic_algorithms": "nothing: all is deterministic",
    "utils.checkpoint": "dy2st.distributed.fleet.utils.recompute",
    "utils.data.default_collate": "io.DataLoader does it where no collate_fn is given",
    "utils.tensorboard": "a writer of your own: float(loss) gives numbers",
    "var_mean": "var(x), mean(x)",
    "vdot": "dot(conj(x), y)",
    "vmap": "a loop, or an axis more: operators broadcast",
    "xlogy": "where(x == 0, 0, x * log(y))",
    "Tensor.new": "new_zeros, new_full, or to_tensor",
    "Tensor.new_tensor": "dy2st.to_tensor(data, dtype=x.dtype)",
    "Tensor.reshape_as": "x.reshape(other.shape)",
    "Tensor.select": "x[:, i]",
    "Tensor.share_memory_": "nothing: workers get copies",
    "Module.compile": "dy2st.to_static(net)",
    "Module.share_memory": "nothing: workers get copies",
    "Optimizer.add_param_group": "give groups when it is made: parameters=[{'params': ...}]",
}
"""Names, and all that is under them, that are not here: what to write instead."""

_PAIR = "with an axis torch gives values and places, here the values alone: {} gives places"
_BATCH = (
    "batches come first here; a bool mask is True where attention may look, torch's where it may "
    "not; MultiHeadAttention gives the result alone unless need_weights"
)
_WEIGHT = "the weight lies as [in, out], torch's as [out, in]: x @ weight here; files are turned"
_START = "other initial values: torch draws uniformly within 1 / sqrt(fan_in)"
_FIXED = "takes a learning rate, and the optimizer takes it: Adam(learning_rate=scheduler)"

NOTES = {
    **{f"nn.Conv{n}d": _START for n in (1, 2, 3)},
    **{f"nn.ConvTranspose{n}d": _START for n in (1, 2, 3)},
    "compile": "to_static makes one Program of all, and refuses what it cannot convert",
    "jit.script": "to_static converts what is called, and keeps Python's meaning",
    "jit.trace": "to_static keeps branches and loops; InputSpec says which sizes are unknown",
    "nn.Embedding": "other initial values: torch draws from a normal distribution",
    "nn.Linear": f"{_WEIGHT}; {_START}",
    "load": "state dicts alone, never objects: no code of a file runs; map_location is not needed",
    "nn.functional.one_hot": "float32",
    "numel": "a tensor of one number",
    "save": "state dicts; a model is saved by jit.save",
    "utils.data.DataLoader": "batches are lists of tensors, in which numbers are arrays",
    "Tensor.cuda": "refused where there is no GPU; tensors are where set_device says",
    "Tensor.size": "the number of elements; x.size() is x.shape, x.size(0) is x.shape[0]",
}
"""What is otherwise here, and need not be changed to run."""

DIFFERENCES = {
    **{
        name: _PAIR.format(place)
        for base, place in (("max", "argmax"), ("min", "argmin"))
        for name in (base, f"Tensor.{base}")
    },
    **{
        f"nn.{name}": _BATCH
        for name in (
            "MultiheadAttention",
            "Transformer",
            "TransformerDecoderLayer",
            "TransformerEncoderLayer",
        )
    },
    **dict.fromkeys(
        ("split", "Tensor.split"),
        "a number is the size of a part in torch, and the number of parts here: give a list",
    ),
    **{
        f"optim.lr_scheduler.{name}": _FIXED
        for name in [
            "CosineAnnealingLR",
            "CosineAnnealingWarmRestarts",
            "CyclicLR",
            "ExponentialLR",
            "LambdaLR",
            "LinearLR",
            "MultiStepLR",
            "MultiplicativeLR",
            "OneCycleLR",
            "PolynomialLR",
            "ReduceLROnPlateau",
            "StepLR",
        ]
    },
    **dict.fromkeys(
        ("Tensor.median", "Tensor.nanmedian"),
        "torch gives the lower of two in the middle, with an axis its place too: mode='min'",
    ),
    "Tensor.type": "x.astype(dtype)",
    "Module.cuda": "refused where there is no GPU: dy2st.set_device('gpu:0')",
    "autograd.Function": "the context has no needs_input_grad",
    "histogram": "the counts alone: histogram_bin_edges gives the edges",
    "linalg.lu": "L and U in one matrix, and pivots: lu_unpack(*lu(x)) gives P, L and U",
    "nn.functional.scaled_dot_product_attention": "takes (batch, length, heads, size) here, "
    "torch (batch, heads, length, size)",
    **dict.fromkeys(
        ("sort", "Tensor.sort"), "torch gives values and places, here values alone: argsort too"
    ),
    "nn.functional.linear": _WEIGHT,
    "nn.functional.pad": "2 * ndim numbers begin with the first axis here, fewer as in torch",
    "utils.data.TensorDataset": "takes one list of tensors: TensorDataset([x, y])",
    "optim.Adagrad": "lr_decay is a scheduler here",
}
"""What a name does otherwise here without a word."""

OTHER_ARGUMENTS = {
    "input": ("x", "input", "logit", "arr", "inputs", "ndarray", "values"),
    "self": ("x",),
    "tensor": ("x", "tensor"),
    "tensors": ("x", "inputs", "input"),
    "other": ("y", "other"),
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes", "perm", "repeat_times"),
    "dim1": ("axis1",),
    "dim2": ("axis2",),
    "eps": ("epsilon", "eps"),
    "lr": ("learning_rate",),
    "params": ("parameters",),
    "bias": ("bias", "bias_attr"),
    "size": ("shape", "size", "out_shape"),
    "start_dim": ("start_axis",),
    "end_dim": ("stop_axis",),
    "return_indices": ("return_mask",),
    "target": ("label",),
    "exponent": ("y",),
    "mat1": ("x",),
    "mat2": ("y",),
    "vec2": ("y",),
    "A": ("x",),
    "a": ("x",),
    "B": ("y",),
    "b": ("y",),
    "end": ("end", "stop", "y"),
    "steps": ("num",),
    "ord": ("p",),
    "lambd": ("threshold",),
    "min_val": ("min",),
    "max_val": ("max",),
    "module": ("layer",),
    "modules": ("sublayers",),
    "values": ("values", "value", "parameters"),
    "source": ("value",),
    "src": ("values", "y"),
    "data": ("data",),
    "sections": ("num_or_indices",),
    "split_size_or_sections": ("num_or_sections",),
    "sizes": ("shape",),
    "unflattened_size": ("shape",),
    "correction": ("correction", "ddof"),
    "kernel_size": ("kernel_size", "kernel_sizes"),
    "dilation": ("dilation", "dilations"),
    "padding": ("padding", "paddings"),
    "stride": ("stride", "strides"),
    "output_size": ("output_size", "output_sizes"),
    "enabled": ("enable",),
    "init_scale": ("init_loss_scaling",),
    "norm_first": ("normalize_before",),
    "targets": ("labels",),
    "target_lengths": ("label_lengths",),
    "input1": ("x1", "input"),
    "input2": ("x2", "other"),
    "x1": ("x",),
    "x2": ("y",),
    "anchor": ("input",),
    "var": ("variance",),
    "logits": ("x", "logits"),
    "tau": ("temperature",),
    "n": ("num_rows", "n"),
    "m": ("num_columns",),
    "nonlinearity": ("activation",),
    "boundaries": ("sorted_sequence",),
    "maxnorm": ("max_norm",),
    "ang": ("angle",),
    "index": ("index", "indices"),
    "base_distribution": ("base",),
    "concentration1": ("alpha",),
    "concentration0": ("beta",),
}
"""What an argument may be called here, the likeliest first."""

WITHOUT_MEANING = frozenset(
    [
        "batch_first",
        "inplace",
        "device",
        "non_blocking",
        "pin_memory",
        "pin_memory_device",
        "layout",
        "memory_format",
        "foreach",
        "fused",
        "capturable",
        "differentiable",
        "generator",
        "sparse_grad",
        "validate_args",
        "cache_size",
        "in_order",
        "multiprocessing_context",
        "enable_nested_tensor",
        "mask_check",
        "map_location",
        "weights_only",
        "device_type",
        "cache_enabled",
        "size_average",
        "reduce",
        "_stacklevel",
    ]
)
"""Arguments that say nothing here: they are left out."""

_STOPPED = ("stop_gradient=not {}", "stop_gradient=False", "stop_gradient=True")

FORMS: dict[str, dict[str, str | tuple[str, str, str]]] = {
    **{
        name: {"momentum": "momentum=1 - {}"}
        for name in (
            *(f"nn.{kind}Norm{n}d" for kind in ("Batch", "Instance") for n in (1, 2, 3)),
            "nn.functional.batch_norm",
            "nn.functional.instance_norm",
        )
    },
    **{
        key: {"approximate": "approximate={} == 'tanh'"}
        for key in ("nn.GELU", "nn.functional.gelu")
    },
    **{f"nn.{name}": {"dim": "axis={}"} for name in ("GLU", "LogSoftmax", "Softmax")},
    **{f"nn.{name}": {"lambd": "threshold={}"} for name in ("Hardshrink", "Softshrink")},
    **{f"nn.MaxPool{n}d": {"return_indices": "return_mask={}"} for n in (1, 2)},
    "nn.Hardtanh": {"min_val": "min={}", "max_val": "max={}"},
    "nn.SyncBatchNorm": {"momentum": "momentum=1 - {}"},
    **{
        f"nn.{name}": {
            "batch_first": ("time_major=not {}", "time_major=False", "time_major=True"),
            "bidirectional": (
                "direction='bidirect' if {} else 'forward'",
                "direction='bidirect'",
                "direction='forward'",
            ),
        }
        for name in ("LSTM", "GRU", "RNN")
    },
    **{
        f"optim.{name}": {"betas": "beta1={0}[0], beta2={0}[1]"}
        for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam")
    },
    "optim.RMSprop": {"alpha": "rho={}"},
    "optim.SGD": {"nesterov": "use_nesterov={}"},
    "tensor": {"requires_grad": _STOPPED},
    "nn.SmoothL1Loss": {"beta": "delta={}, is_huber=False"},
    "nn.functional.smooth_l1_loss": {"beta": "delta={}, is_huber=False"},
    **{
        name: {"count_include_pad": ("exclusive=not {}", "exclusive=False", "exclusive=True")}
        for n in (1, 2, 3)
        for name in (f"nn.AvgPool{n}d", f"nn.functional.avg_pool{n}d")
    },
}
"""Arguments that become another expression; of three forms the others are for True and False."""

ADDED = {
    **dict.fromkeys(("nn.LSTM", "nn.GRU", "nn.RNN"), ("batch_first", "time_major=True")),
    **dict.fromkeys(("gather", "scatter"), ("", "broadcast=False")),
    "scatter_add": ("", "reduce='add', broadcast=False"),
    **dict.fromkeys(("median", "nanmedian"), ("", "mode='min'")),
    **dict.fromkeys(("nn.CrossEntropyLoss", "nn.functional.cross_entropy"), ("", "axis=1")),
    "fliplr": ("", "axis=1"),
    "flipud": ("", "axis=0"),
    **{
        name: ("count_include_pad", "exclusive=False")
        for n in (1, 2, 3)
        for name in (f"nn.AvgPool{n}d", f"nn.functional.avg_pool{n}d")
    },
}
"""What a call needs in addition, unless it gives an argument of torch's."""

ONE_ARGUMENT = frozenset(("max", "min", "Tensor.max", "Tensor.min"))
"""Names that differ only where they are given more than a tensor."""

"""What `help` says of the in-place forms: one row each, of which the doctests run the example."""

from __future__ import annotations

_MEANINGS = {
    "bernoulli": "1 with probability p, else 0, element by element",
    "cauchy": "random numbers of the Cauchy distribution around `loc`",
    "copy": "a copy of another tensor, broadcast to its shape and in its dtype",
    "exponential": "random numbers of the density lam * exp(-lam * x)",
    "fill": "one number everywhere",
    "fill_diagonal": "itself with one number on the diagonal of the matrix",
    "geometric": "how many tries the first success takes, each of probability `probs`",
    "log_normal": "exp of normal random numbers",
    "normal": "normal random numbers",
    "set": "`source`, in the given shape, or a tensor without elements",
    "uniform": "uniform random numbers in [min, max)",
    "zero": "0 everywhere",
}

# Name, a tensor x, what is done, what is seen.
_ROWS = """\
abs | [-1.5, 2.0] | x.abs_().tolist() | [1.5, 2.0]
acos | [1.0, 0.0] | print(x.acos_().round(3)) | [0.    1.571]
acosh | [1.0, 2.0] | print(x.acosh_().round(3)) | [0.    1.317]
add | [1.0, 2.0] | x.add_(10.0).tolist() | [11.0, 12.0]
addmm | [[1.0]] | x.addmm_(dy2st.ones([1, 2]), dy2st.ones([2, 1])).tolist() | [[3.0]]
asin | [0.0, 1.0] | print(x.asin_().round(3)) | [0.    1.571]
asinh | [0.0, 1.0] | print(x.asinh_().round(3)) | [0.    0.881]
atan | [0.0, 1.0] | print(x.atan_().round(3)) | [0.    0.785]
atanh | [0.0, 0.5] | print(x.atanh_().round(3)) | [0.    0.549]
baddbmm | [[[1.0]]] | x.baddbmm_(dy2st.ones([1, 1, 2]), dy2st.ones([1, 2, 1])).tolist() | [[[3.0]]]
bernoulli | [5.0, 5.0] | x.bernoulli_(1.0).tolist() | [1.0, 1.0]
bitwise_and | [12, 10] | x.bitwise_and_(6).tolist() | [4, 2]
bitwise_left_shift | [1, 5] | x.bitwise_left_shift_(2).tolist() | [4, 20]
bitwise_not | [0, 5] | x.bitwise_not_().tolist() | [-1, -6]
bitwise_or | [12, 10] | x.bitwise_or_(6).tolist() | [14, 14]
bitwise_right_shift | [20, 5] | x.bitwise_right_shift_(2).tolist() | [5, 1]
bitwise_xor | [12, 10] | x.bitwise_xor_(6).tolist() | [10, 12]
cast | [1.9, -1.9] | x.cast_("int64").tolist() | [1, -1]
cauchy | [0.0, 0.0] | x.cauchy_(loc=5.0, scale=0.0).tolist() | [5.0, 5.0]
ceil | [-1.5, 1.5] | x.ceil_().tolist() | [-1.0, 2.0]
clip | [-5, 3, 20] | x.clip_(0, 10).tolist() | [0, 3, 10]
copy | [0.0, 0.0] | x.copy_(dy2st.to_tensor([1, 2])).tolist() | [1.0, 2.0]
copysign | [1.0, -2.0] | x.copysign_(dy2st.to_tensor([-5.0, 5.0])).tolist() | [-1.0, 2.0]
cos | [0.0, 3.14159265] | print(x.cos_().round(3)) | [ 1. -1.]
cosh | [0.0, 1.0] | print(x.cosh_().round(3)) | [1.    1.543]
cumprod | [1, 2, 3] | x.cumprod_(0).tolist() | [1, 2, 6]
cumsum | [1, 2, 3] | x.cumsum_(0).tolist() | [1, 3, 6]
digamma | [1.0, 2.0] | print(x.digamma_().round(3)) | [-0.577  0.423]
divide | [3.0, 8.0] | x.divide_(2.0).tolist() | [1.5, 4.0]
elu | [-1.0, 2.0] | print(dy2st.nn.functional.elu_(x).round(3)) | [-0.632  2.   ]
equal | [1, 2] | x.equal_(dy2st.to_tensor([1, 3])).tolist() | [True, False]
erf | [0.0, 1.0] | print(x.erf_().round(3)) | [0.    0.843]
erfinv | [0.0, 0.5] | print(x.erfinv_().round(3)) | [0.    0.477]
exp | [0.0, 1.0] | print(x.exp_().round(3)) | [1.    2.718]
expm1 | [0.0, 1.0] | print(x.expm1_().round(3)) | [0.    1.718]
exponential | [0.0, 0.0] | bool((x.exponential_(2.0) > 0).all()) | True
fill | [1.0, 2.0] | x.fill_(7.0).tolist() | [7.0, 7.0]
fill_diagonal | [[1, 2], [3, 4]] | x.fill_diagonal_(0).tolist() | [[0, 2], [3, 0]]
fill_diagonal_tensor | [[1, 2]] | x.fill_diagonal_tensor_(dy2st.to_tensor([8])).tolist() | [[8, 2]]
flatten | [[1, 2], [3, 4]] | x.flatten_().shape | [4]
floor | [-1.5, 1.5] | x.floor_().tolist() | [-2.0, 1.0]
floor_divide | [-7, 7] | x.floor_divide_(2).tolist() | [-4, 3]
frac | [1.75, -1.25] | x.frac_().tolist() | [0.75, -0.25]
gammainc | [1.0] | print(x.gammainc_(dy2st.to_tensor([1.0])).round(3)) | [0.632]
gammaincc | [1.0] | print(x.gammaincc_(dy2st.to_tensor([1.0])).round(3)) | [0.368]
gcd | [12, 7] | x.gcd_(dy2st.to_tensor([18, 5])).tolist() | [6, 1]
geometric | [0.0, 0.0] | bool((x.geometric_(0.5) >= 1).all()) | True
greater_equal | [1, 2] | x.greater_equal_(dy2st.to_tensor([2, 2])).tolist() | [False, True]
greater_than | [1, 3] | x.greater_than_(dy2st.to_tensor([2, 2])).tolist() | [False, True]
hardtanh | [-2.0, 0.5] | dy2st.nn.functional.hardtanh_(x).tolist() | [-1.0, 0.5]
hypot | [3.0, 5.0] | x.hypot_(dy2st.to_tensor([4.0, 12.0])).tolist() | [5.0, 13.0]
i0 | [0.0, 1.0] | print(x.i0_().round(3)) | [1.    1.266]
index_add | [1, 2] | x.index_add_(dy2st.to_tensor([1]), 0, dy2st.to_tensor([5])).tolist() | [1, 7]
index_fill | [1.0, 2.0] | x.index_fill_(dy2st.to_tensor([1]), 0, 9.0).tolist() | [1.0, 9.0]
index_put | [3, 2] | x.index_put_((dy2st.to_tensor([0]),), dy2st.to_tensor([9])).tolist() | [9, 2]
lcm | [4, 3] | x.lcm_(dy2st.to_tensor([6, 5])).tolist() | [12, 15]
ldexp | [1.0, 3.0] | x.ldexp_(dy2st.to_tensor([3, -1])).tolist() | [8.0, 1.5]
leaky_relu | [-4.0, 4.0] | dy2st.nn.functional.leaky_relu_(x, 0.25).tolist() | [-1.0, 4.0]
lerp | [0.0, 10.0] | x.lerp_(dy2st.to_tensor([4.0, 20.0]), 0.25).tolist() | [1.0, 12.5]
less_equal | [1, 3] | x.less_equal_(dy2st.to_tensor([2, 2])).tolist() | [True, False]
less_than | [1, 3] | x.less_than_(dy2st.to_tensor([2, 2])).tolist() | [True, False]
lgamma | [1.0, 3.0] | print(x.lgamma_().round(3)) | [0.    0.693]
log | [1.0, 10.0] | print(x.log_().round(3)) | [0.    2.303]
log10 | [1.0, 100.0] | print(x.log10_().round(3)) | [0. 2.]
log1p | [0.0, 1.0] | print(x.log1p_().round(3)) | [0.    0.693]
log2 | [1.0, 8.0] | x.log2_().tolist() | [0.0, 3.0]
log_normal | [0.0, 0.0] | x.log_normal_(0.0, 0.0).tolist() | [1.0, 1.0]
logical_and | [0, 2] | x.logical_and_(dy2st.to_tensor([1, 1])).tolist() | [False, True]
logical_not | [0, 2] | x.logical_not_().tolist() | [True, False]
logical_or | [0, 2] | x.logical_or_(dy2st.to_tensor([0, 0])).tolist() | [False, True]
logical_xor | [0, 2] | x.logical_xor_(dy2st.to_tensor([1, 1])).tolist() | [True, False]
logit | [0.5, 0.9] | print(x.logit_().round(3)) | [0.    2.197]
masked_fill | [1.0, 2.0] | x.masked_fill_(x > 1.5, 0.0).tolist() | [1.0, 0.0]
masked_scatter | [1.0, 2.0] | x.masked_scatter_(x > 1.5, dy2st.zeros([1])).tolist() | [1.0, 0.0]
multigammaln | [3.0] | print(x.multigammaln_(1).round(3)) | [0.693]
multiply | [1.0, 2.0] | x.multiply_(3.0).tolist() | [3.0, 6.0]
nan_to_num | [float("nan"), 1.0] | x.nan_to_num_().tolist() | [0.0, 1.0]
neg | [1.5, -2.0] | x.neg_().tolist() | [-1.5, 2.0]
normal | [0.0, 0.0] | x.normal_(5.0, 0.0).tolist() | [5.0, 5.0]
not_equal | [1, 2] | x.not_equal_(dy2st.to_tensor([1, 3])).tolist() | [False, True]
polygamma | [1.0] | print(x.polygamma_(1).round(3)) | [1.645]
pow | [2.0, 3.0] | x.pow_(2.0).tolist() | [4.0, 9.0]
put_along_axis | [10, 20] | x.put_along_axis_(dy2st.to_tensor([1]), 5, 0).tolist() | [10, 5]
reciprocal | [4.0, -0.5] | x.reciprocal_().tolist() | [0.25, -2.0]
relu | [-1.0, 2.0] | x.relu_().tolist() | [0.0, 2.0]
remainder | [-7, 7] | x.remainder_(3).tolist() | [2, 1]
renorm | [[3.0, 4.0]] | print(x.renorm_(2.0, 0, 1.0).round(3)) | [[0.6 0.8]]
reshape | [1, 2, 3, 4] | x.reshape_([2, 2]).tolist() | [[1, 2], [3, 4]]
round | [0.5, 1.5] | x.round_().tolist() | [0.0, 2.0]
rsqrt | [1.0, 4.0] | x.rsqrt_().tolist() | [1.0, 0.5]
scale | [1.0, 2.0] | x.scale_(10.0, bias=1.0).tolist() | [11.0, 21.0]
scatter | [1.0, 2.0] | x.scatter_(dy2st.to_tensor([1]), dy2st.zeros([1])).tolist() | [1.0, 0.0]
scatter_add | [1, 2] | x.scatter_add_(0, dy2st.to_tensor([1]), x[:1]).tolist() | [1, 3]
set | [1.0, 2.0] | x.set_(dy2st.to_tensor([7.0, 8.0, 9.0])).tolist() | [7.0, 8.0, 9.0]
sigmoid | [0.0, 2.0] | print(x.sigmoid_().round(3)) | [0.5   0.881]
sin | [0.0, 1.57079633] | print(x.sin_().round(3)) | [0. 1.]
sinc | [0.0, 0.5] | print(x.sinc_().round(3)) | [1.    0.637]
sinh | [0.0, 1.0] | print(x.sinh_().round(3)) | [0.    1.175]
softmax | [5.0, 5.0] | dy2st.nn.functional.softmax_(x).tolist() | [0.5, 0.5]
sqrt | [0.0, 9.0] | x.sqrt_().tolist() | [0.0, 3.0]
square | [-3.0, 2.0] | x.square_().tolist() | [9.0, 4.0]
squeeze | [[1, 2]] | x.squeeze_().tolist() | [1, 2]
subtract | [5.0, 7.0] | x.subtract_(2.0).tolist() | [3.0, 5.0]
t | [[1, 2]] | x.t_().tolist() | [[1], [2]]
tan | [0.0, 0.78539816] | print(x.tan_().round(3)) | [0. 1.]
tanh | [0.0, 1.0] | print(x.tanh_().round(3)) | [0.    0.762]
transpose | [[1, 2]] | x.transpose_([1, 0]).tolist() | [[1], [2]]
tril | [[1, 2], [3, 4]] | x.tril_().tolist() | [[1, 0], [3, 4]]
triu | [[1, 2], [3, 4]] | x.triu_().tolist() | [[1, 2], [0, 4]]
trunc | [-1.5, 1.5] | x.trunc_().tolist() | [-1.0, 1.0]
uniform | [0.0, 0.0] | x.uniform_(5.0, 5.0).tolist() | [5.0, 5.0]
unsqueeze | [1, 2] | x.unsqueeze_(0).tolist() | [[1, 2]]
where | [-1.0, 2.0] | dy2st.where_(x > 0, x, 0.0).tolist() | [0.0, 2.0]
zero | [1.0, 2.0] | x.zero_().tolist() | [0.0, 0.0]
"""
_EXAMPLES = {name: rest for name, *rest in (row.split(" | ") for row in _ROWS.splitlines())}


def docstring(name: str, keeps_shape: bool) -> str:
    """The text of the in-place form of a function."""
    given, done, seen = _EXAMPLES[name]
    about = f"x becomes {_MEANINGS.get(name, f'`{name}` of x')}, in place: for all who hold it."
    if name not in _MEANINGS:
        refused = " ShapeError if the result has another shape." if keeps_shape else ""
        about = f"{about}\n\nReturns x. The arguments are those of `{name}`.{refused}"
    return f"{about}\n\n>>> x = dy2st.to_tensor({given})\n>>> {done}\n{seen}\n"

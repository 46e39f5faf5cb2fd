"""Modules of torch as Layers: values, gradients and buffers at sizes that were no example."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import dy2st as P
from dy2st.errors import ArgumentError, ConversionError, ShapeError, UnknownOperators
from dy2st.importers.torch import from_torch
from tests.effort import IS_FULL
from tests.torch.layers_of_torch import LAYERS, NETWORKS

SHARE = 1 if IS_FULL else 8
DRAWN = [*list(LAYERS)[::SHARE], *list(NETWORKS)[:: min(SHARE, 4)]]


def imported(case, n=3, length=4):
    """A module, and the Layer made of it with its first axis, and others, unknown."""
    torch.manual_seed(1)
    module = case.make()
    module.train(case.mode == "train")
    inputs = case.inputs(n, length)
    axes = case.axes or [(0,)] * len(inputs)
    shapes = [
        {axis: torch.export.Dim.AUTO for axis in axes[k]} if k < len(axes) else None
        for k in range(len(inputs))
    ]
    model = from_torch(copy.deepcopy(module), inputs, dynamic_shapes=tuple(shapes))
    return module, model


def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def agree(module, model, inputs, error=1e-4):
    """Values, gradients of inputs and parameters, and buffers."""
    theirs = [one.clone().requires_grad_() if one.is_floating_point() else one for one in inputs]
    ours = [
        P.to_tensor(one.numpy().copy(), stop_gradient=not one.is_floating_point()) for one in inputs
    ]
    wanted, found = leaves(module(*theirs)), leaves(model(*ours))
    assert len(wanted) == len(found)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), error, error)
        assert a.numpy().dtype == b.detach().numpy().dtype
    total = sum((one * weights(one)).sum() for one in wanted if one.requires_grad)
    if not isinstance(total, int):
        for parameter in module.parameters():
            parameter.grad = None
        total.backward()
        parts = [
            (a * P.to_tensor(weights(b).numpy())).sum()
            for a, b in zip(found, wanted, strict=True)
            if b.requires_grad
        ]
        sum(parts).backward()
        for a, b in zip(ours, theirs, strict=True):
            if b.requires_grad:
                slope = np.zeros(b.shape) if b.grad is None else b.grad.numpy()
                given = np.zeros(b.shape) if a.grad is None else a.grad.numpy()
                np.testing.assert_allclose(given, slope, error, error)
        if model.training:
            slopes = {id(p): p.grad for p in module.parameters()}
            held = dict(module.named_parameters())
            for name, parameter in model.named_parameters():
                slope = slopes[id(held[name])]
                np.testing.assert_allclose(
                    parameter.grad.numpy(), slope.numpy(), error, error, err_msg=name
                )
                parameter.clear_grad()
    held = dict(module.named_buffers())
    for name, buffer in model.named_buffers():
        if name in held:
            np.testing.assert_allclose(
                buffer.numpy(), held[name].numpy(), error, error, err_msg=name
            )


def weights(tensor):
    return torch.linspace(0.5, 1.5, tensor.numel(), dtype=tensor.dtype).reshape(tensor.shape)


@pytest.mark.filterwarnings("ignore:LSTM with projections")  # of torch's own run
@pytest.mark.parametrize("name", DRAWN)
def test_a_module_is_equal_to_torch_at_sizes_that_were_no_example(name):
    case = (LAYERS | NETWORKS)[name]
    module, model = imported(case)
    for n, length in ((3, 4), (5, 7), (2, 3)):
        agree(module, model, case.inputs(n, length), case.error)


# -- what a Layer is good for -----------------------------------------------------------------


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, pair, *, table, scale=2, rest=None):
        a, b = pair
        y = self.linear(a) * scale + table["x"]
        return {"sum": y + b, "both": (y, [b, None, 7]), "rows": a.shape[0]}


def nested():
    pair = (torch.randn(4, 3), torch.randn(4, 3))
    axis = {0: torch.export.Dim("rows")}
    table = {"x": torch.randn(3)}
    module = Nested()
    model = from_torch(
        module, (pair,), {"table": table}, {"pair": (axis, axis), "table": {"x": None}}
    )
    return module, model, table


def test_nested_inputs_and_results_and_names_of_sizes():
    module, model, table = nested()
    a, b = torch.randn(5, 3), torch.randn(5, 3)
    wanted = module((a, b), table=table)
    found = model((a.numpy(), b.numpy()), {"x": table["x"].numpy()})
    assert "float32[rows, 3]" in repr(model)
    assert found["rows"] == 5 and found["both"][1][1:] == [None, 7]
    np.testing.assert_allclose(found["sum"].numpy(), wanted["sum"].detach().numpy(), 1e-5, 1e-6)


def test_it_is_saved_loaded_and_run_by_each_engine(tmp_path):
    module, model, table = nested()
    P.jit.save(model, str(tmp_path / "net"))
    given = torch.randn(2, 3), torch.randn(2, 3)
    wanted = module(given, table=table)["sum"].detach().numpy()
    for engine in ("numpy", "native"):
        loaded = P.jit.load(str(tmp_path / "net"), engine=engine)
        found = loaded([one.numpy() for one in given], table["x"].numpy())
        np.testing.assert_allclose(found["sum"].numpy(), wanted, 1e-5, 1e-6)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


def test_tied_weights_are_one_parameter_in_the_memory_of_torch():
    module = Tied()
    model = from_torch(module, (torch.randn(2, 3),))
    assert [*dict(model.named_parameters())] == ["a.weight", "a.bias", "b.bias"]
    held = dict(model.named_parameters())["a.weight"]
    assert np.shares_memory(held.array, module.a.weight.detach().numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "complex64"])
def test_dtypes_stay(dtype):
    kind = getattr(torch, dtype)

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.tensor([1, 2, 3]).to(kind))

        def forward(self, x):
            return x * self.scale + 1

    module, x = Scaled(), torch.tensor([4, 5, 6]).to(kind)
    found = from_torch(module, (x,))(P.to_tensor([4, 5, 6]).astype(dtype))
    assert str(found.dtype) == dtype
    wanted = module(x)
    wide = "complex64" if dtype == "complex64" else "float64"
    np.testing.assert_array_equal(
        found.astype(wide).numpy(), wanted.to(getattr(torch, wide)).numpy()
    )


def test_a_parameter_that_is_frozen_is_not_trained():
    module = torch.nn.Linear(3, 2)
    module.bias.requires_grad_(False)
    model = from_torch(module, (torch.randn(2, 3),))
    assert model.training
    model(P.ones([2, 3])).sum().backward()
    assert model.weight.grad is not None and model.bias.stop_gradient


def test_random_layers_draw_in_training_mode():
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Dropout2d(0.5))
    model = from_torch(module, (torch.ones(4, 8, 2, 2),))
    P.seed(1)
    found = model(P.ones([4, 8, 2, 2])).numpy()
    assert set(np.unique(found)) <= {0.0, 2.0, 4.0} and (found == 0).any()
    assert not np.array_equal(found, model(P.ones([4, 8, 2, 2])).numpy())


def test_an_exported_program_is_taken_as_it_is():
    module = torch.nn.Linear(3, 2)
    program = torch.export.export(module, (torch.randn(2, 3),))
    x = torch.randn(2, 3)
    found = from_torch(program)(x.numpy()).numpy()
    np.testing.assert_allclose(found, module(x).detach().numpy(), 1e-5, 1e-6)


def test_operators_have_the_paths_of_torchs_modules():
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.ReLU()))
    model = from_torch(module, (torch.ones(1, 2),))
    found = {one.name: one.layer for one in next(iter(model.programs.values())).operators}
    assert (found["matmul"], found["relu"]) == ("0", "1.0")


def test_a_condition_that_the_code_decided_is_held():
    class Asking(torch.nn.Module):
        def forward(self, x):
            return x * 2 if x.shape[0] % 2 == 0 else x

    model = from_torch(Asking(), (torch.ones(4),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    np.testing.assert_array_equal(model(np.ones(6, "float32")).numpy(), np.full(6, 2.0))
    with pytest.raises(ShapeError, match="torch.export follows the answer of the example"):
        model(np.ones(5, "float32"))


# -- what is refused --------------------------------------------------------------------------


def test_a_module_that_torch_refuses_is_refused_in_one_line():
    class Deciding(torch.nn.Module):
        def forward(self, x):
            return x + 1 if x.sum() > 0 else x

    with pytest.raises(ConversionError, match="torch.export refuses Deciding: .*dy2st port"):
        from_torch(Deciding(), (torch.ones(2),))


def test_all_unknown_operators_are_named_with_lines():
    class Rare(torch.nn.Module):
        def forward(self, x):
            return torch.special.airy_ai(x) + torch.special.bessel_j0(x)

    with pytest.raises(UnknownOperators) as caught:
        from_torch(Rare(), (torch.ones(2),))
    for name in ("aten.special_airy_ai.default", "aten.special_bessel_j0.default"):
        assert f"{name}  ({__file__}" in str(caught.value)


def test_an_input_that_is_changed_is_refused():
    class Changing(torch.nn.Module):
        def forward(self, x):
            return x.add_(1)

    with pytest.raises(ConversionError, match="changes its input `x` in place"):
        from_torch(Changing(), (torch.ones(2),))


def test_what_is_no_module_is_refused():
    with pytest.raises(ArgumentError, match=r"torch\.nn\.Module or ExportedProgram, not function"):
        from_torch(lambda x: x, (torch.ones(2),))
    with pytest.raises(ArgumentError, match="the inputs of one call"):
        from_torch(torch.nn.ReLU())


class AsksForOne(torch.nn.Module):
    def forward(self, x):
        return x if x.shape[0] == 1 else x * 2


@pytest.mark.parametrize("dim", [torch.export.Dim("batch"), torch.export.Dim.AUTO], ids=str)
def test_a_size_that_code_has_asked_for_is_the_example_s_answer(dim):
    model = from_torch(AsksForOne(), (torch.ones(3, 4),), dynamic_shapes=({0: dim},))
    for rows in (0, 2, 5):
        np.testing.assert_array_equal(model(np.ones((rows, 4), "float32")).numpy(), 2.0)
    with pytest.raises(ShapeError, match="!= 1"):
        model(np.ones((1, 4), "float32"))

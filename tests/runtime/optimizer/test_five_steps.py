"""Five steps of every optimizer: weights that PaddlePaddle 3.3.1 has after the same steps."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn
from dy2st_runtime import optimizer as o
from dy2st_runtime.nn.parameters import ParamAttr, create_parameter
from dy2st_runtime.regularizer import L1Decay, L2Decay

WEIGHT = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], "float32")
BIAS = np.array([0.1, -0.2, 0.3], "float32")
X = np.array([[1.0, 2.0], [-0.5, 0.3], [0.7, -1.2], [0.2, 0.9]], "float32")


def parameter(name, values, **wishes):
    attr = ParamAttr(name, nn.initializer.Assign(values), **wishes)
    return create_parameter(values.shape, "float32", attr=attr)


def trained(make, wishes, steps=5):
    w, b = parameter("w", WEIGHT, **wishes), parameter("b", BIAS)
    optimizer = make([w, b])

    def loss():
        y = rt.ops.tanh(rt.ops.matmul(rt.to_tensor(X), w) + b)
        return (y * y * rt.to_tensor([1.0, 2.0, 3.0])).mean() + 0.1 * (w * w * w).mean()

    def closure():
        optimizer.clear_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(steps):
        if isinstance(optimizer, o.LBFGS):
            optimizer.step(closure)
        else:
            loss().backward()
            optimizer.step()
            optimizer.clear_grad()
    return [*w.numpy()[0], *b.numpy()[:2]]


def is_vector(parameter):
    return len(parameter.shape) == 1


# The optimizer, wishes of the weight, and three elements of the weight and two of the bias.
CASES = {
    "SGD": (
        lambda ps: o.SGD(0.1, ps),
        {},
        [0.5139288, -0.9004226, 1.7754502, 0.0836195, -0.1307739],
    ),
    "SGD_l2": (
        lambda ps: o.SGD(0.1, ps, weight_decay=0.1),
        {},
        [0.4895213, -0.8525199, 1.6855131, 0.079377, -0.121491],
    ),
    "SGD_l1": (
        lambda ps: o.SGD(0.1, ps, weight_decay=L1Decay(0.1)),
        {},
        [0.4634792, -0.8471443, 1.7270182, 0.0333367, -0.0786492],
    ),
    "SGD_value": (
        lambda ps: o.SGD(0.1, ps, grad_clip=nn.ClipGradByValue(0.3)),
        {},
        [0.5139288, -0.9004226, 1.8500001, 0.0836195, -0.1307739],
    ),
    "SGD_norm": (
        lambda ps: o.SGD(0.1, ps, grad_clip=nn.ClipGradByNorm(0.3)),
        {},
        [0.5062667, -0.9540573, 1.8928368, 0.0828507, -0.1261645],
    ),
    "SGD_global": (
        lambda ps: o.SGD(0.1, ps, weight_decay=0.3, grad_clip=nn.ClipGradByGlobalNorm(0.3)),
        {},
        [0.4358196, -0.8143506, 1.6205759, 0.0789839, -0.1374105],
    ),
    "Momentum": (
        lambda ps: o.Momentum(0.1, 0.9, ps),
        {},
        [0.5364558, -0.7486561, 1.4516475, 0.0577106, -0.0344404],
    ),
    "Nesterov": (
        lambda ps: o.Momentum(0.1, 0.9, ps, True, weight_decay=0.1),
        {},
        [0.465398, -0.5478597, 1.1121302, 0.0378664, -0.007415],
    ),
    "Adam": (
        lambda ps: o.Adam(0.1, parameters=ps),
        {},
        [0.7456707, -0.5397747, 1.5250109, -0.1201096, -0.0284522],
    ),
    "Adam_l2": (
        lambda ps: o.Adam(0.1, parameters=ps, weight_decay=0.1),
        {},
        [0.0098597, -0.5197457, 1.5147777, -0.3832079, 0.0149181],
    ),
    "Adam_ams": (
        lambda ps: o.Adam(0.1, 0.5, 0.6, parameters=ps, amsgrad=True),
        {},
        [0.6867319, -0.5463594, 1.5547789, -0.0090417, -0.0301098],
    ),
    "AdamW": (
        lambda ps: o.AdamW(0.1, parameters=ps, weight_decay=0.1),
        {},
        [0.7265428, -0.4987757, 1.4384503, -0.1138165, -0.0209366],
    ),
    "AdamW_fun": (
        lambda ps: o.AdamW(
            0.1, parameters=ps, weight_decay=0.1, apply_decay_param_fun=lambda n: n == "w"
        ),
        {},
        [0.7272218, -0.4989399, 1.4379658, -0.1166183, -0.0223316],
    ),
    "AdamW_ams": (
        lambda ps: o.AdamW(0.1, 0.5, 0.6, parameters=ps, weight_decay=0.1, amsgrad=True),
        {},
        [0.6716102, -0.5038452, 1.4700814, -0.0030134, -0.0179844],
    ),
    "Adagrad": (
        lambda ps: o.Adagrad(0.1, parameters=ps, initial_accumulator_value=0.1),
        {},
        [0.5415419, -0.7960383, 1.7301339, 0.0565337, -0.077739],
    ),
    "Adadelta": (
        lambda ps: o.Adadelta(0.1, parameters=ps),
        {},
        [0.5022442, -0.9977209, 1.9977218, 0.0977456, -0.197727],
    ),
    "Adadelta_l2": (
        lambda ps: o.Adadelta(1.0, rho=0.9, parameters=ps, weight_decay=0.1),
        {},
        [0.4839285, -0.9835633, 1.98359, 0.0837141, -0.1838406],
    ),
    "Adamax": (
        lambda ps: o.Adamax(0.1, parameters=ps),
        {},
        [0.7367041, -0.608151, 1.587745, -0.1084561, -0.0174295],
    ),
    "RMSProp": (
        lambda ps: o.RMSProp(0.1, parameters=ps),
        {},
        [0.0084928, 0.033796, 1.005146, -0.1462219, 0.155482],
    ),
    "RMSProp_c": (
        lambda ps: o.RMSProp(0.1, momentum=0.9, centered=True, parameters=ps),
        {},
        [-0.1965213, 0.7272612, 0.1464207, 0.9563382, -0.6622614],
    ),
    "Lamb": (
        lambda ps: o.Lamb(0.1, parameters=ps),
        {},
        [0.9642826, -0.4228444, 1.3952283, 0.0473089, -0.1402453],
    ),
    "Lamb_ex": (
        lambda ps: o.Lamb(0.1, 0.3, parameters=ps, exclude_from_weight_decay_fn=is_vector),
        {},
        [0.6892594, -0.4246574, 1.2771353, -0.1163849, -0.0059744],
    ),
    "Lamb_always": (
        lambda ps: o.Lamb(
            0.1, 0.3, parameters=ps, exclude_from_weight_decay_fn=is_vector, always_adapt=True
        ),
        {},
        [0.8379937, -0.4292285, 1.2815026, 0.0278177, -0.1155716],
    ),
    "NAdam": (
        lambda ps: o.NAdam(0.1, parameters=ps),
        {},
        [0.7010582, -0.6183972, 1.6303551, -0.0029488, 0.0152077],
    ),
    "NAdam_l2": (
        lambda ps: o.NAdam(0.1, parameters=ps, weight_decay=0.1),
        {},
        [0.1313556, -0.6121, 1.6210521, -0.2569211, 0.0565118],
    ),
    "RAdam": (
        lambda ps: o.RAdam(0.1, parameters=ps),
        {},
        [0.5140182, -0.8998289, 1.7670538, 0.082955, -0.1248764],
    ),
    "RAdam_b": (
        lambda ps: o.RAdam(0.1, beta2=0.6, parameters=ps, weight_decay=0.1),
        {},
        [0.4893439, -0.8509418, 1.6726806, 0.0783823, -0.1153369],
    ),
    "Rprop": (
        lambda ps: o.Rprop(0.1, (1e-5, 50), ps),
        {},
        [0.588, -0.2558399, 1.2558398, 0.012, -0.112],
    ),
    "ASGD": (
        lambda ps: o.ASGD(0.1, 1, ps),
        {},
        [0.5139288, -0.9004226, 1.7754502, 0.0836195, -0.1307739],
    ),
    "ASGD_3": (
        lambda ps: o.ASGD(0.1, 3, ps, weight_decay=0.1),
        {},
        [0.4893846, -0.8513079, 1.67575, 0.07862, -0.1169352],
    ),
    "LBFGS": (
        lambda ps: o.LBFGS(0.5, max_iter=3, parameters=ps),
        {},
        [0.2867486, 0.0689436, 0.8948979, -0.0626909, -0.0122407],
    ),
    "LBFGS_wolfe": (
        lambda ps: o.LBFGS(1.0, max_iter=4, line_search_fn="strong_wolfe", parameters=ps),
        {},
        [-0.0553683, 0.0207129, 0.0655062, 0.0872119, 0.0043884],
    ),
    "groups": (
        lambda ps: o.SGD(
            0.1,
            [{"params": [ps[0]], "weight_decay": 0.2, "learning_rate": 0.5}, {"params": ps[1]}],
            weight_decay=0.1,
        ),
        {},
        [0.4824692, -0.9007733, 1.7878786, 0.0786947, -0.1172072],
    ),
    "groups_adamw": (
        lambda ps: o.AdamW(
            0.1,
            parameters=[
                {"params": [ps[0]], "weight_decay": 0.2, "learning_rate": 0.5},
                {"params": [ps[1]], "beta1": 0.5, "grad_clip": None},
            ],
            weight_decay=0.1,
        ),
        {},
        [0.6321688, -0.7121599, 1.6589787, -0.1749318, -0.0014736],
    ),
    "groups_adam": (
        lambda ps: o.Adam(
            0.1,
            parameters=[
                {"params": [ps[0]], "beta1": 0.2, "epsilon": 0.1},
                {"params": [ps[1]], "grad_clip": nn.ClipGradByValue(0.1)},
            ],
            weight_decay=0.1,
        ),
        {},
        [0.3653294, -0.6577388, 1.6081592, -0.3080246, 0.1625378],
    ),
    "groups_clip": (
        lambda ps: o.SGD(
            0.1, [{"params": [ps[0]]}, {"params": [ps[1]]}], grad_clip=nn.ClipGradByGlobalNorm(0.3)
        ),
        {},
        [0.5062667, -0.9540573, 1.8928368, 0.0828507, -0.1261645],
    ),
    "groups_mom": (
        lambda ps: o.Momentum(
            0.1,
            0.9,
            [{"params": [ps[0]], "momentum": 0.5}, {"params": [ps[1]], "use_nesterov": True}],
        ),
        {},
        [0.5217357, -0.843475, 1.6533099, 0.0455221, 0.0038419],
    ),
    "AdamW_groups_fun": (
        lambda ps: o.AdamW(
            0.1,
            parameters=[{"params": [ps[0]], "weight_decay": 0.0}, {"params": [ps[1]]}],
            weight_decay=0.3,
        ),
        {},
        [0.7436034, -0.5392464, 1.5264449, -0.1115987, -0.0243036],
    ),
    "attr_lr_sgd": (
        lambda ps: o.SGD(0.1, ps),
        {"learning_rate": 0.5},
        [0.5069236, -0.949351, 1.8820705, 0.0829238, -0.1265622],
    ),
    "attr_lr_adamw": (
        lambda ps: o.AdamW(0.1, parameters=ps, weight_decay=0.3),
        {"learning_rate": 0.5},
        [0.608156, -0.6920492, 1.6151887, -0.2728224, 0.1106696],
    ),
    "attr_lr_lamb": (
        lambda ps: o.Lamb(0.1, parameters=ps),
        {"learning_rate": 0.5},
        [0.7803498, -0.7076955, 1.700217, 0.0007448, -0.1031841],
    ),
    "attr_lr_nadam": (
        lambda ps: o.NAdam(0.1, parameters=ps),
        {"learning_rate": 0.5},
        [0.5854333, -0.8076724, 1.8022894, -0.1650223, 0.0324692],
    ),
    "attr_lr_rprop": (
        lambda ps: o.Rprop(0.1, (1e-5, 50), ps),
        {"learning_rate": 0.5},
        [0.588, -0.2558399, 1.2558398, 0.012, -0.112],
    ),
    "attr_reg_sgd": (
        lambda ps: o.SGD(0.1, ps, weight_decay=0.1),
        {"regularizer": L2Decay(0.5)},
        [0.4013854, -0.6807207, 1.357856, 0.0802455, -0.1148204],
    ),
    "attr_reg_adam": (
        lambda ps: o.Adam(0.1, parameters=ps),
        {"regularizer": L2Decay(0.5)},
        [0.0247791, -0.50611, 1.502409, -0.4019434, 0.2012306],
    ),
    "attr_reg_adamw": (
        lambda ps: o.AdamW(0.1, parameters=ps),
        {"regularizer": L2Decay(0.5)},
        [0.0234834, -0.5021948, 1.4934775, -0.401438, 0.2011423],
    ),
    "attr_reg_mom": (
        lambda ps: o.Momentum(0.1, 0.9, ps, weight_decay=0.1),
        {"regularizer": L2Decay(0.5)},
        [0.2439019, -0.1954978, 0.4001639, 0.0466605, 0.0023496],
    ),
    "attr_clip_global": (
        lambda ps: o.SGD(0.1, ps, grad_clip=nn.ClipGradByGlobalNorm(0.3)),
        {"need_clip": False},
        [0.5139288, -0.9004226, 1.7754502, 0.0836195, -0.1307739],
    ),
    "attr_clip_value": (
        lambda ps: o.SGD(0.1, ps, grad_clip=nn.ClipGradByValue(0.3)),
        {"need_clip": False},
        [0.5139288, -0.9004226, 1.7754502, 0.0836195, -0.1307739],
    ),
    "attr_clip_norm": (
        lambda ps: o.SGD(0.1, ps, grad_clip=nn.ClipGradByNorm(0.3)),
        {"need_clip": False},
        [0.5139288, -0.9004226, 1.7754502, 0.0836195, -0.1307739],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_weights_after_five_steps(case):
    make, wishes, expected = CASES[case]
    # Twenty line searches in float32 add up.
    atol = 1e-4 if case == "LBFGS_wolfe" else 1e-5
    np.testing.assert_allclose(trained(make, wishes), expected, atol=atol)

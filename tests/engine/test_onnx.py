"""Our layers against the operator test cases of the `onnx` package, in float32 (`pytest -rA` prints the table)."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator

from engine.layers.gru import GRU, Reset, reset_after, reset_before
from tests.engine.agreement import agreement
from tests.engine.onnx_adaptors import ADAPTORS
from tests.engine.onnx_cases import NotExpressible, cases

TOLERANCE = 1e-5

# How many cases there must be, so that an empty collection is no success, and how many of them our layers express.
AT_LEAST = {
    "RNN": (6, 6),
    "GRU": (6, 6),
    "LSTM": (6, 5),
    "LayerNormalization": (19, 19),
    "RMSNormalization": (19, 19),
    "Gelu": (4, 4),
    "Softmax": (7, 7),
    "RotaryEmbedding": (8, 8),
    "Attention": (90, 70),
    "SoftmaxCrossEntropyLoss": (34, 18),
}


@pytest.mark.parametrize("operator", AT_LEAST)
def test_onnx_operator(operator: str) -> None:
    skipped: dict[str, str] = {}
    found = cases(operator)
    with agreement(f"ONNX {operator}", TOLERANCE) as agree:
        for case in found:
            try:
                pairs = ADAPTORS[operator](case)
            except NotExpressible as refusal:
                skipped[case.name] = str(refusal)
                continue
            asked = [(ours, theirs) for ours, theirs in pairs if theirs is not None]
            assert asked, f"{case.name} compares nothing"
            assert len(asked) == sum(output is not None for output in case.outputs)
            for ours, theirs in asked:
                agree(ours.detach(), theirs)
    checked = len(found) - len(skipped)
    print(f"{operator}: {checked} of {len(found)} cases hold")
    for name, reason in skipped.items():
        print(f"    not expressible: {name}: {reason}")
    present, expressible = AT_LEAST[operator]
    assert len(found) >= present
    assert checked >= expressible


@pytest.mark.parametrize(("linear_before_reset", "reset"), [(0, reset_before), (1, reset_after)])
def test_both_places_of_the_reset_gate_equal_onnx(linear_before_reset: int, reset: Reset) -> None:
    """The cases know only the first; the package's reference evaluator knows both."""
    batch, steps, inputs, hidden = 3, 5, 4, 6
    node = onnx.helper.make_node(
        "GRU", ["X", "W", "R", "B"], ["Y"], hidden_size=hidden, linear_before_reset=linear_before_reset
    )
    float32 = onnx.TensorProto.FLOAT
    given = [onnx.helper.make_tensor_value_info(name, float32, None) for name in "XWRB"]
    graph = onnx.helper.make_graph([node], "gru", given, [onnx.helper.make_tensor_value_info("Y", float32, None)])
    evaluator = ReferenceEvaluator(onnx.helper.make_model(graph))
    random = np.random.default_rng(0)
    with agreement(f"ONNX reference GRU, linear_before_reset={linear_before_reset}", TOLERANCE) as agree:
        for _ in range(5):
            shapes = {"X": (steps, batch, inputs), "W": (1, 18, inputs), "R": (1, 18, hidden), "B": (1, 36)}
            arrays = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
            (expected,) = evaluator.run(None, arrays)  # (T, 1, batch, H)
            layer = GRU(inputs, hidden, reset=reset)
            stacked = [arrays["W"][0], arrays["R"][0], *np.split(arrays["B"][0], 2)]
            with torch.no_grad():
                for parameter, blocks in zip(layer.parameters(), stacked, strict=True):
                    z, r, n = np.split(np.asarray(blocks), 3)
                    parameter.copy_(torch.from_numpy(np.concatenate([r, z, n])))
            states, _ = layer(torch.from_numpy(arrays["X"]).transpose(0, 1))
            agree(states.detach().transpose(0, 1), torch.from_numpy(np.asarray(expected)[:, 0]))

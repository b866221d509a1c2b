"""How our layers compute ONNX's operators: each function returns pairs of our result and the expected one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from engine.layers.activations import gelu, gelu_tanh
from engine.layers.attention import attend, masked_softmax
from engine.layers.bidirectional import Bidirectional, reverse_time
from engine.layers.gru import GRU, reset_after, reset_before
from engine.layers.loss import IGNORED, cross_entropy
from engine.layers.lstm import LSTM
from engine.layers.multi_head import merge_heads, split_heads
from engine.layers.normalization import LayerNorm, RMSNorm
from engine.layers.rnn import RNN
from engine.layers.rotary import rotate_pairs
from tests.engine.onnx_cases import Case, NotExpressible

Pairs = list[tuple[Tensor, Tensor | None]]
RECURRENT = ("hidden_size", "direction", "layout")


def rnn(case: Case) -> Pairs:
    case.only(*RECURRENT)
    return recurrent(case, RNN, (0,))


def gru(case: Case) -> Pairs:
    case.only(*RECURRENT, "linear_before_reset")
    reset = reset_after if case.attributes.get("linear_before_reset") else reset_before
    return recurrent(case, lambda inputs, hidden: GRU(inputs, hidden, reset=reset), (1, 0, 2))  # ONNX: z, r, n


def lstm(case: Case) -> Pairs:
    case.only(*RECURRENT)
    if case.input(7) is not None:
        raise NotExpressible("peepholes (input P)")
    return recurrent(case, LSTM, (0, 2, 3, 1))  # ONNX: i, o, f, g


def recurrent(case: Case, build: Callable[[int, int], nn.Module], order: tuple[int, ...]) -> Pairs:
    """Run a recurrent operator; `order` tells at which of ONNX's blocks of weights ours stand."""
    if any(case.input(position) is not None for position in (4, 5, 6)):
        raise NotExpressible("sequence lengths or start states")
    x, weights, state_weights, biases = case.given(0), case.given(1), case.given(2), case.input(3)
    batch_first = case.attributes.get("layout", 0) == 1
    x = x if batch_first else x.transpose(0, 1)  # (batch, T, d_in)
    layers = []
    for direction in range(len(weights)):
        layer = build(weights.shape[-1], state_weights.shape[-1])
        bias = torch.zeros(2 * weights.shape[1]) if biases is None else biases[direction]
        blocks = (weights[direction], state_weights[direction], *bias.chunk(2))
        with torch.no_grad():
            for parameter, stacked in zip(layer.parameters(), blocks, strict=True):
                chunks = stacked.chunk(len(order))
                parameter.copy_(torch.cat([chunks[place] for place in order]))
        layers.append(layer)
    states, last_cells = _run(case.attributes.get("direction", b"forward"), layers, x)
    # states: one (batch, T, H) per direction, in order of time; the last state read is the first in time backwards.
    ends = [0 if direction == "backward" else -1 for direction, _ in states]
    every = torch.stack([found for _, found in states])  # (directions, batch, T, H)
    last = torch.stack([found[:, end] for end, (_, found) in zip(ends, states, strict=True)])  # (directions, batch, H)
    cells = torch.stack(last_cells) if last_cells else None  # (directions, batch, H)
    pairs = [
        (every.permute(1, 2, 0, 3) if batch_first else every.permute(2, 0, 1, 3), case.output(0)),
        (last.transpose(0, 1) if batch_first else last, case.output(1)),
    ]
    return pairs if cells is None else [*pairs, (cells, case.output(2))]


def _run(direction: bytes, layers: list[Any], x: Tensor) -> tuple[list[tuple[str, Tensor]], list[Tensor]]:
    """Return the states of each direction in order of time, and the last cells of an LSTM."""
    if direction == b"bidirectional":
        joined, trace = Bidirectional(*layers)(x)  # (batch, T, 2H)
        ahead, back = joined.chunk(2, dim=-1)
        states, traces = [("forward", ahead), ("backward", back)], [trace.forward, trace.backward]
    elif direction == b"reverse":
        found, trace = layers[0](reverse_time(x))
        states, traces = [("backward", reverse_time(found))], [trace]
    else:
        found, trace = layers[0](x)
        states, traces = [("forward", found)], [trace]
    return states, [trace.cell[:, -1] for trace in traces if hasattr(trace, "cell")]


def layer_norm(case: Case) -> Pairs:
    case.only("axis", "epsilon")
    inputs, flat, gain = _flattened(case)
    bias = case.given(2)
    layer = LayerNorm(gain.numel(), eps=case.attributes.get("epsilon", 1e-5))
    with torch.no_grad():
        layer.gain.copy_(gain.flatten())
        layer.bias.copy_(bias.flatten())
    output, trace = layer(flat)
    rows = case.output(1)
    assert rows is not None
    inverse = torch.rsqrt(trace.variance + layer.eps)
    return [
        (output.reshape(inputs.shape), case.output(0)),
        (trace.mean.reshape(rows.shape), rows),
        (inverse.reshape(rows.shape), case.output(2)),
    ]


def rms_norm(case: Case) -> Pairs:
    case.only("axis", "epsilon")
    inputs, flat, gain = _flattened(case)
    layer = RMSNorm(gain.numel(), eps=case.attributes.get("epsilon", 1e-5))
    with torch.no_grad():
        layer.gain.copy_(gain.flatten())
    return [(layer(flat)[0].reshape(inputs.shape), case.output(0))]


def _flattened(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Return the input, the input with everything from `axis` on as one row, and the gain."""
    inputs, gain = case.given(0), case.given(1)
    axis = case.attributes.get("axis", -1) % inputs.dim()
    return inputs, inputs.reshape(-1, math.prod(inputs.shape[axis:])), gain


def gelu_operator(case: Case) -> Pairs:
    case.only("approximate")
    function = gelu_tanh if case.attributes.get("approximate") == b"tanh" else gelu
    return [(function(case.given(0)), case.output(0))]


def softmax(case: Case) -> Pairs:
    case.only("axis")
    axis = case.attributes.get("axis", -1)
    return [(masked_softmax(case.given(0).movedim(axis, -1)).movedim(-1, axis), case.output(0))]


def softmax_cross_entropy(case: Case) -> Pairs:
    case.only("reduction", "ignore_index")
    if case.input(2) is not None:
        raise NotExpressible("class weights")
    logits = case.given(0).movedim(1, -1)
    mean, trace = cross_entropy(logits, case.given(1), ignored=case.attributes.get("ignore_index", IGNORED))
    loss = {b"none": trace.losses, b"sum": trace.losses.sum(), b"mean": mean}[case.attributes["reduction"]]
    return [(loss, case.output(0)), (trace.log_probabilities.movedim(-1, 1), case.output(1))]


def rotary_embedding(case: Case) -> Pairs:
    case.only("interleaved", "rotary_embedding_dim", "num_heads")
    inputs, cosine, sine, positions = case.given(0), case.given(1), case.given(2), case.input(3)
    if positions is not None:
        cosine, sine = cosine[positions], sine[positions]  # (batch, n, turned/2)
    heads = split_heads(inputs, case.attributes["num_heads"]) if inputs.dim() == 3 else inputs  # (batch, heads, n, d_k)
    turned_width = case.attributes.get("rotary_embedding_dim", 0) or heads.shape[-1]
    turned, rest = heads[..., :turned_width], heads[..., turned_width:]
    order = torch.arange(turned_width)
    if not case.attributes.get("interleaved", 0):  # pairs (i, i + half) instead of neighbours
        order = order.reshape(2, -1).T.flatten()
    turned = rotate_pairs(turned[..., order], cosine.unsqueeze(1), sine.unsqueeze(1))[..., order.argsort()]
    output = torch.cat((turned, rest), dim=-1)
    return [(merge_heads(output) if inputs.dim() == 3 else output, case.output(0))]


def attention(case: Case) -> Pairs:
    windows = ("left_window_size", "right_window_size")
    case.only("scale", "is_causal", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode", *windows)
    query, key, value = case.given(0), case.given(1), case.given(2)
    stacked = query.dim() == 3
    if stacked:
        query = split_heads(query, case.attributes["q_num_heads"])
        key, value = (split_heads(tensor, case.attributes["kv_num_heads"]) for tensor in (key, value))
    past_key, past_value = case.input(4), case.input(5)
    if past_key is not None and past_value is not None:
        key, value = torch.cat((past_key, key), dim=-2), torch.cat((past_value, value), dim=-2)
    present = key, value
    groups = query.shape[1] // key.shape[1]  # grouped-query attention: a key head for several query heads
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    mask, bias = _mask_and_bias(case, query.shape[-2], key.shape[-2])
    output, trace = attend(query, key, value, mask, scale=case.attributes.get("scale"), bias=bias)
    looked = {
        0: trace.scores if bias is None else trace.scores - bias,
        2: trace.scores.masked_fill(~mask, -torch.inf),
        3: trace.weights,
    }[case.attributes.get("qk_matmul_output_mode", 0)]
    return [
        (merge_heads(output) if stacked else output, case.output(0)),
        (present[0], case.output(1)),
        (present[1], case.output(2)),
        (looked, case.output(3)),
    ]


def _mask_and_bias(case: Case, queries: int, keys: int) -> tuple[Tensor, Tensor | None]:
    """Return ONNX's many ways to say who may attend as our one mask, and what its float mask adds to the scores."""
    given, past, real_keys = case.input(3), case.input(4), case.input(6)
    mask, bias = torch.ones(queries, keys, dtype=torch.bool), None
    if given is not None:
        blocked: Any = False if given.dtype is torch.bool else -math.inf
        given = nn.functional.pad(given, (0, keys - given.shape[-1]), value=blocked) if given.shape[-1] > 1 else given
        open_keys = given if given.dtype is torch.bool else given > -math.inf
        mask = mask & open_keys
        bias = None if given.dtype is torch.bool else given.masked_fill(~open_keys, 0.0)
    offset = torch.tensor(0 if past is None else past.shape[-2])
    if real_keys is not None:
        offset = (real_keys - queries).reshape(-1, 1, 1, 1)
        mask = mask & (torch.arange(keys) < real_keys.reshape(-1, 1, 1, 1))
    ahead = torch.arange(keys) - torch.arange(queries)[:, None] - offset  # how far a key lies after its query
    if case.attributes.get("is_causal"):
        mask = mask & (ahead <= 0)
    for attribute, distance in (("left_window_size", -ahead), ("right_window_size", ahead)):
        if (width := case.attributes.get(attribute, -1)) >= 0:
            mask = mask & (distance <= width)
    return mask, bias


ADAPTORS: dict[str, Callable[[Case], Pairs]] = {
    "RNN": rnn,
    "GRU": gru,
    "LSTM": lstm,
    "LayerNormalization": layer_norm,
    "RMSNormalization": rms_norm,
    "Gelu": gelu_operator,
    "Softmax": softmax,
    "RotaryEmbedding": rotary_embedding,
    "Attention": attention,
    "SoftmaxCrossEntropyLoss": softmax_cross_entropy,
}

"""Computes the lab `additive-attention`: energies, weights and context of three decoder states, float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.additive_attention import AdditiveAttentionParams
from engine.contract.message import say
from engine.contract.report import Column, Detail, Event, Heatmap, Invariant, Note, Panel, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context, array, close, counted, entropy, rows_sum_to_one
from engine.layers.additive_attention import AdditiveAttention, AdditiveTrace

STEPS = 3
HAND_STATES = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
HAND_ENERGIES = (1.0, 2.0, 0.0)


@dataclass(frozen=True)
class Case:
    """Decoder states (steps, d_s), encoder states (S, d_h), which of them count (S,), and the layer between them."""

    layer: AdditiveAttention
    decoder_states: Tensor
    encoder_states: Tensor
    kept: Tensor
    words: tuple[str, ...]
    temperature: float

    def attend(self, order: Tensor | None = None) -> tuple[Tensor, AdditiveTrace]:
        """Return contexts (steps, d_h) and trace, with the encoder states in another `order` if given."""
        states = self.encoder_states if order is None else self.encoder_states[order]  # (S, d_h)
        kept = self.kept if order is None else self.kept[order]
        every = states.expand(len(self.decoder_states), *states.shape)  # (steps, S, d_h)
        with torch.no_grad():
            contexts, trace = self.layer(self.decoder_states, every, kept, temperature=self.temperature)
        return contexts, trace


def run(params: AdditiveAttentionParams, context: Context) -> Iterator[Event]:
    """Yield the report of the decoder states of one case."""
    case = _hand_case(params) if params.weights == "hand-case" else _drawn_case(params, context)
    contexts, trace = case.attend()
    panels: list[Panel] = [_weights(case, trace), _steps(case, trace), _contexts(case, contexts)]
    if (masked := int((~case.kept).sum())) < params.source_length_masked:
        text = say(
            "The source has {count} words; one must remain, so {masked} are masked.",
            count=len(case.kept),
            masked=masked,
        )
        panels.append(Note("masked", text))
    yield Report(tuple(panels), _values(case, contexts, trace), tuple(_invariants(case, contexts, trace)))


def _drawn_case(params: AdditiveAttentionParams, context: Context) -> Case:
    tokens = tokenize(params.src)
    layer = AdditiveAttention(
        params.d_s, params.d_h, params.d_a, generator=context.generator("weights"), dtype=torch.float64
    )
    if params.weights == "zero":
        _zero(layer)
    return Case(
        layer,
        context.normal("decoder states", STEPS, params.d_s),
        context.word_vectors(tokens, params.d_h),
        _kept(len(tokens), params.source_length_masked),
        tuple(axis_labels(tokens)),
        params.temperature,
    )


def _hand_case(params: AdditiveAttentionParams) -> Case:
    """Three states of width 2 and a score vector v that gives them exactly the energies of the lesson."""
    states = torch.tensor(HAND_STATES, dtype=torch.float64)  # (3, 2)
    layer = AdditiveAttention(1, 2, 3, dtype=torch.float64)
    with torch.no_grad():
        layer.decoder_weight.zero_()
        layer.encoder_weight.copy_(states)  # any matrix whose tanh W h_j are independent
        energies = torch.tensor(HAND_ENERGIES, dtype=torch.float64)
        layer.score_vector.copy_(torch.linalg.solve(layer.keys(states).tanh(), energies))
    decoder_states = torch.zeros(1, 1, dtype=torch.float64)
    kept = _kept(len(states), params.source_length_masked)
    return Case(layer, decoder_states, states, kept, counted("h", len(states)), params.temperature)


def _kept(count: int, masked: int) -> Tensor:
    """True for the words that may be looked at: all but the last `masked`, and one at least."""
    return torch.arange(count) < max(count - masked, 1)


def _zero(layer: AdditiveAttention) -> None:
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()


def _weights(case: Case, trace: AdditiveTrace) -> Heatmap:
    return Heatmap(
        "weights",
        say("Attention weights"),
        array(trace.weights),
        counted("s", len(case.decoder_states)),
        case.words,
        say("decoder states"),
        say("source"),
        0.0,
        1.0,
        details=(Detail(say("energy"), array(trace.energies)),),
    )


def _steps(case: Case, trace: AdditiveTrace) -> Table:
    columns = [Column(say("source"))]
    for step in counted("s", len(case.decoder_states)):
        columns += [
            Column(say("energy, {state}", state=step), ".4f"),
            Column(say("weight, {state}", state=step), ".4f"),
        ]
    pairs = torch.stack((trace.energies, trace.weights), dim=1).flatten(0, 1)  # (2 · steps, S)
    rows = tuple((word, *numbers) for word, numbers in zip(case.words, pairs.T.tolist(), strict=True))
    return Table("steps", say("Energies and weights"), tuple(columns), rows)


def _contexts(case: Case, contexts: Tensor) -> Table:
    """The contexts, beside what a decoder without attention could take: the mean, or the last state alone."""
    kept = case.encoder_states[case.kept]  # (S', d_h)
    named = [(say("ctx, {state}", state=s), row) for s, row in zip(counted("s", len(contexts)), contexts, strict=True)]
    named += [(say("mean of the states"), kept.mean(0)), (say("last state alone"), kept[-1])]
    dims = (Column(say("dim {number}", number=i + 1), ".4f") for i in range(contexts.shape[1]))
    rows = tuple((name, *row.tolist()) for name, row in named)
    return Table("contexts", say("Context vectors"), (Column(say("row")), *dims), rows)


def _values(case: Case, contexts: Tensor, trace: AdditiveTrace) -> dict[str, Scalar]:
    """Values of the first decoder state."""
    return {
        "weights": trace.weights[0].tolist(),
        "energies": trace.energies[0].tolist(),
        "context": contexts[0].tolist(),
        "largest_weight": trace.weights[0].max().item(),
        "smallest_weight": trace.weights[0][case.kept].min().item(),
        "uniform": 1 / int(case.kept.sum()),
        "entropy": entropy(trace.weights[0]).item() + 0.0,  # a single word has 0, not −0
    }


def _invariants(case: Case, contexts: Tensor, trace: AdditiveTrace) -> Iterator[Invariant]:
    yield rows_sum_to_one(trace.weights)
    blocked = trace.weights[:, ~case.kept]  # (steps, masked)
    yield Invariant(
        say("no weight is negative, and masked words have exactly 0"),
        bool((trace.weights >= 0).all() and (blocked == 0).all()),
        say("smallest weight {smallest:.2e}", smallest=trace.weights.min().item()),
    )
    order = torch.arange(len(case.kept)).roll(1).flip(0)
    _, permuted = case.attend(order)
    yield close(
        say("states in another order have the same weights, in that order"),
        permuted.weights - trace.weights[:, order],
        1e-12,
    )
    states = case.encoder_states[case.kept]  # (S', d_h)
    outside = torch.maximum(states.amin(0) - contexts, contexts - states.amax(0)).clamp_min(0)  # (steps, d_h)
    yield close(say("the context stays in the range of the unmasked states"), outside, 1e-12)
    steps, _ = trace.weights.shape
    silent = AdditiveAttention(*_widths(case.layer), dtype=torch.float64)
    _zero(silent)
    with torch.no_grad():
        _, uniform = silent(case.decoder_states, case.encoder_states.expand(steps, -1, -1), case.kept)
    expected = case.kept.double() / case.kept.sum()  # (S,)
    yield close(say("with all W zero every unmasked word has the same weight"), uniform.weights - expected, 1e-12)


def _widths(layer: AdditiveAttention) -> tuple[int, int, int]:
    return layer.decoder_weight.shape[1], layer.encoder_weight.shape[1], layer.encoder_weight.shape[0]

"""Computes the lab `cost`: formulas held against a counter, crossings, memory, weights, and a clock."""

from __future__ import annotations

from collections.abc import Iterator

from engine.contract.labs.cost import CostParams
from engine.contract.message import say
from engine.contract.report import Event, Invariant, Panel, Report, Scalar
from engine.labs.base import Context, close, more_than
from engine.labs.cost.clock import Times, measure
from engine.labs.cost.counted import Counted, count, counter_on_modules, known_weights, layer_weights
from engine.labs.cost.formulas import Layer, crossings, weights
from engine.labs.cost.panels import clock_panels, flops_panels, memory_panels, weights_panels


def run(params: CostParams, context: Context) -> Iterator[Event]:
    """Yield the report of what is to be shown; the formulas' values and checks come with each."""
    if params.show == "wall-clock":
        yield from _clock(params, context)
        return
    layer = Layer(params.n, params.d, params.expansion, params.heads)
    counted = count(layer, context.generator("weights"))
    context.check()
    panels: tuple[Panel, ...]
    values = _values(layer, params.layers)
    if params.show == "FLOPs":
        seen = counter_on_modules(counted.size)
        panels = flops_panels(layer, params.layers, counted.size, seen)
        values |= {f"counter_{name}": operations for name, operations in seen.items()}
    elif params.show == "memory":
        panels = memory_panels(layer, params.layers)
    else:
        known = known_weights()
        panels = weights_panels(layer, params.layers, known)
        values |= _known_values(known)
    yield Report(panels, values, tuple(_invariants(layer, counted)))


def _clock(params: CostParams, context: Context) -> Iterator[Event]:
    on_cpu = yield from measure(params.n, "cpu", context)
    times = [on_cpu]
    if context.device != "cpu":
        times.append((yield from measure(params.n, context.device, context)))
    yield Report(clock_panels(times), _clock_values(times), ())


def _clock_values(times: list[Times]) -> dict[str, Scalar]:
    """Plain names are one core of the CPU at the longest length; `…_accelerator` is the device beside it."""
    values: dict[str, Scalar] = {}
    for measured, suffix in zip(times, ("", "_accelerator"), strict=False):
        values[f"ms_lstm{suffix}"] = measured.lstm[-1]
        values[f"ms_encoder{suffix}"] = measured.encoder[-1]
        values[f"encoder_per_lstm{suffix}"] = measured.encoder[-1] / measured.lstm[-1]
        values[f"faster{suffix}"] = "LSTM" if measured.lstm[-1] < measured.encoder[-1] else "encoder"
    return values


def _values(layer: Layer, layers: int) -> dict[str, Scalar]:
    """Operations, bytes and weights of all layers; ratios, crossings and `naive_bytes` (one head) do not depend on
    their number."""
    parts = ("projections", "scores", "mixing", "core", "feed_forward", "rnn", "gru", "lstm")
    values: dict[str, Scalar] = {part: layers * getattr(layer, part) for part in parts}
    values["layer"] = layers * layer.encoder
    values["layer_per_lstm"] = layer.encoder / layer.lstm
    values["core_per_projections"] = layer.core / layer.projections
    values["sequential_rnn"], values["sequential_attention"] = layer.n, 1
    values |= {f"crossing_{name}": n for name, n in crossings(layer.d, layer.expansion).items()}
    stored = ("score_bytes", "cache_bytes", "shared_cache_bytes", "rnn_state_bytes", "lstm_state_bytes")
    values |= {name: layers * getattr(layer, name) for name in stored}
    values["score_gigabytes"] = layers * layer.score_bytes / 1e9
    values["naive_bytes"] = layer.naive_bytes
    learned = weights(layer.d, layer.expansion)
    values |= {f"weights_{name}": layers * number for name, number in learned.items()}
    values["feed_forward_share"] = learned["feed_forward"] / learned["encoder"]
    return values


def _known_values(known: dict[str, int]) -> dict[str, Scalar]:
    vocabulary = 37_000 * 512  # the shared table of Vaswani et al.
    return {
        "known_lstm": known["lstm_1024_2"],
        "known_encoder": known["encoder_256_6"],
        "known_base": known["base"],
        "known_bert": known["bert"],
        "share_base": known["base_feed_forward"] / known["base"],
        "share_base_vocabulary": known["base_feed_forward"] / (known["base"] + vocabulary),
        "share_bert": known["bert_feed_forward"] / known["bert"],
    }


def _invariants(layer: Layer, counted: Counted) -> Iterator[Invariant]:
    size, steps, parts = counted.size, counted.steps, counted.parts
    wrong = sum(
        abs(formula - parts[part])
        for formula, part in (
            (size.projections + size.core, "attention"),
            (size.scores, "scores"),
            (size.mixing, "mixing"),
            (size.feed_forward, "feed_forward"),
            (steps.rnn, "rnn"),
            (steps.gru, "gru"),
            (steps.lstm, "lstm"),
        )
    )
    name = say("the formulas count what running layers do (counted at n = {n}, d = {d})", n=size.n, d=size.d)
    yield close(name, wrong, 0)
    yield close(say("scores cost as much as mixing"), parts["scores"] - parts["mixing"], 0)
    stored = abs(counted.score_bytes - size.score_bytes) + abs(counted.cache_bytes - size.cache_bytes)
    yield close(say("scores and cache take the bytes of the formulas"), stored, 0)
    built = layer_weights(layer.d, layer.heads, layer.expansion)
    learned = weights(layer.d, layer.expansion)
    wrong = sum(abs(built[name] - number) for name, number in learned.items())
    yield close(say("the formulas count the weights that layers have"), wrong, 0)
    yield from _crossing_checks(layer)


def _crossing_checks(layer: Layer) -> Iterator[Invariant]:
    """At its crossing the core costs exactly as much, one token earlier still less."""
    at = {name: Layer(n, layer.d, layer.expansion) for name, n in crossings(layer.d, layer.expansion).items()}
    before = {name: Layer(n - 1, layer.d, layer.expansion) for name, n in crossings(layer.d, layer.expansion).items()}
    wrong = sum(abs(at[name].core - _rival(at[name], name)) for name in at)
    yield close(say("at its crossings the attention core costs exactly as much"), wrong, 0)
    least = min(_rival(before[name], name) - before[name].core for name in before)
    yield more_than(say("one token before a crossing the core costs less"), least, 0)


def _rival(layer: Layer, name: str) -> int:
    return layer.projections + layer.feed_forward if name == "feed_forward" else int(getattr(layer, name))

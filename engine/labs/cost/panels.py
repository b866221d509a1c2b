"""The figures of the lab `cost`: tables of parts, curves over n, what a counter sees, measured times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from engine.contract.labs.cost import TIMED_WIDTH
from engine.contract.message import Message, say
from engine.contract.report import Array, Column, Curves, Note, Panel, Series, Table
from engine.labs.base import array
from engine.labs.cost.clock import Times
from engine.labs.cost.formulas import Layer, crossings, weights

SHORTEST, LONGEST = 8, 8192


def flops_panels(layer: Layer, layers: int, counted: Layer, seen: dict[str, int]) -> tuple[Panel, ...]:
    return (
        _parts_table(layer, layers),
        _crossings_table(layer),
        _curves(
            "operations",
            say("Operations over the length"),
            say("operations"),
            (
                (say("projections"), lambda one: layers * one.projections),
                (say("scores and mixing"), lambda one: layers * one.core),
                (say("feed-forward"), lambda one: layers * one.feed_forward),
                (say("encoder layer"), lambda one: layers * one.encoder),
                (say("RNN"), lambda one: layers * one.rnn),
                (say("LSTM"), lambda one: layers * one.lstm),
            ),
            layer,
            crossing=lambda one: layers * one.core,
        ),
        _counter_table(counted, seen),
    )


def memory_panels(layer: Layer, layers: int) -> tuple[Panel, ...]:
    rows: tuple[tuple[Message, str, int], ...] = (
        (say("all score matrices"), "L·A·n²", layers * layer.score_bytes),
        (say("one head, scores and weights kept"), "2n²", layer.naive_bytes),
        (say("key–value cache"), "2L·n·d", layers * layer.cache_bytes),
        (say("the same, all heads sharing one (multi-query)"), "2L·n·d/A", layers * layer.shared_cache_bytes),
        (say("state of an RNN"), "L·d", layers * layer.rnn_state_bytes),
        (say("state of an LSTM"), "2L·d", layers * layer.lstm_state_bytes),
    )
    columns = (Column(say("quantity")), Column(say("numbers")), Column(say("bytes"), ",d"))
    curves = _curves(
        "bytes",
        say("Bytes over the length"),
        say("bytes"),
        (
            (say("all score matrices"), lambda one: layers * one.score_bytes),
            (say("key–value cache"), lambda one: layers * one.cache_bytes),
            (say("state of an LSTM"), lambda one: layers * one.lstm_state_bytes),
        ),
        layer,
    )
    title = say("Memory in float32, n = {n}, d = {d}, L = {layers}", n=layer.n, d=layer.d, layers=layers)
    return Table("memory", title, columns, rows), curves


def weights_panels(layer: Layer, layers: int, known: dict[str, int]) -> tuple[Panel, ...]:
    learned = weights(layer.d, layer.expansion)
    rows = (
        (say("RNN"), "2d²", layers * learned["rnn"]),
        (say("GRU"), "6d²", layers * learned["gru"]),
        (say("LSTM"), "8d²", layers * learned["lstm"]),
        (say("encoder layer"), f"{4 + 2 * layer.expansion}d²", layers * learned["encoder"]),
        (say("decoder layer"), f"{8 + 2 * layer.expansion}d²", layers * learned["decoder"]),
    )
    columns = (Column(say("layer")), Column(say("leading term")), Column(say("weights"), ",d"))
    title = say("Weights with biases and norms, d = {d}, L = {layers}", d=layer.d, layers=layers)
    models = (
        (say("LSTM of width 1024, 2 layers"), known["lstm_1024_2"], None),
        (say("encoder of width 256, 6 layers"), known["encoder_256_6"], None),
        (say("Transformer-base without embeddings"), known["base"], known["base_feed_forward"] / known["base"]),
        ("BERT-base", known["bert"], known["bert_feed_forward"] / known["bert"]),
    )
    heads = (Column(say("model")), Column(say("weights"), ",d"), Column(say("in feed-forward"), ".1%"))
    return (
        Table("weights", title, columns, rows),
        Table("models", say("Neither kind has more weights by nature"), heads, models),
    )


def clock_panels(times: Sequence[Times]) -> tuple[Panel, ...]:
    lengths = array(torch.tensor(times[0].lengths, dtype=torch.float64))
    series = []
    rows = []
    for measured in times:
        series.append(Series(say("LSTM on {device}", device=measured.device), _floats(measured.lstm)))
        series.append(Series(say("encoder layer on {device}", device=measured.device), _floats(measured.encoder)))
        for n, lstm, encoder in zip(measured.lengths, measured.lstm, measured.encoder, strict=True):
            rows.append((measured.device, n, lstm, encoder, encoder / lstm))
    columns = (
        Column(say("device")),
        Column(say("n"), "d"),
        Column(say("LSTM, ms"), ".2f"),
        Column(say("encoder layer, ms"), ".2f"),
        Column(say("encoder / LSTM"), ".2f"),
    )
    title = say("A training step on one core, width {width}, one sentence", width=TIMED_WIDTH)
    return (
        Table("times", title, columns, tuple(rows)),
        Curves(
            "clock",
            say("Milliseconds a step"),
            lengths,
            tuple(series),
            say("n"),
            say("milliseconds"),
            log_x=True,
            log_y=True,
        ),
        Note("load", say("Measured on this machine as busy as it is now: a number of yours, not a constant.")),
    )


def _parts_table(layer: Layer, layers: int) -> Table:
    rows = (
        (say("projections"), "8nd²", layers * layer.projections, layer.projections / layer.encoder, 1),
        (say("scores"), "2n²d", layers * layer.scores, layer.scores / layer.encoder, 1),
        (say("mixing"), "2n²d", layers * layer.mixing, layer.mixing / layer.encoder, 1),
        (say("feed-forward"), "4nd·d_ff", layers * layer.feed_forward, layer.feed_forward / layer.encoder, 1),
        (say("encoder layer"), "", layers * layer.encoder, 1.0, 1),
        (say("RNN"), "4nd²", layers * layer.rnn, layer.rnn / layer.encoder, layer.n),
        (say("GRU"), "12nd²", layers * layer.gru, layer.gru / layer.encoder, layer.n),
        (say("LSTM"), "16nd²", layers * layer.lstm, layer.lstm / layer.encoder, layer.n),
    )
    columns = (
        Column(say("part")),
        Column(say("formula")),
        Column(say("operations"), ",d"),
        Column(say("of the encoder layer"), ".1%"),
        Column(say("steps one after another, a layer"), "d"),
    )
    title = say("One pass over n = {n} tokens, d = {d}, L = {layers}", n=layer.n, d=layer.d, layers=layers)
    return Table("parts", title, columns, rows)


def _crossings_table(layer: Layer) -> Table:
    at = crossings(layer.d, layer.expansion)
    rows = (
        (say("RNN"), "n = d", at["rnn"]),
        (say("projections"), "n = 2d", at["projections"]),
        (say("LSTM"), "n = 4d", at["lstm"]),
        (say("projections and feed-forward"), f"n = {2 + layer.expansion}d", at["feed_forward"]),
    )
    columns = (Column(say("as much as")), Column(say("where")), Column(say("n"), ",d"))
    return Table("crossings", say("Where scores and mixing cost as much as something else"), columns, rows)


def _counter_table(size: Layer, seen: dict[str, int]) -> Table:
    rows = (
        ("nn.TransformerEncoderLayer, train()", seen["encoder_train"], size.encoder),
        ("nn.TransformerEncoderLayer, eval()", seen["encoder_eval"], size.encoder),
        ("nn.LSTM", seen["lstm"], size.lstm),
        ("nn.RNN", seen["rnn"], size.rnn),
    )
    columns = (Column(say("module")), Column(say("counter"), ",d"), Column(say("formula"), ",d"))
    title = say("What torch's counter does not see: fused kernels (n = {n}, d = {d})", n=size.n, d=size.d)
    return Table("counter", title, columns, rows)


def _curves(
    id: str,
    title: Message,
    label: Message,
    drawn: Sequence[tuple[Message, Callable[[Layer], int]]],
    layer: Layer,
    crossing: Callable[[Layer], int] | None = None,
) -> Curves:
    """Draw quantities over n; the last curve is only points, where the attention core crosses another curve."""
    marks = set(crossings(layer.d, layer.expansion).values()) if crossing else set()
    steps = {round(2 ** (3 + step / 2)) for step in range(21)}
    lengths = [n for n in sorted(steps | marks | {layer.n}) if SHORTEST <= n <= LONGEST]
    layers = [Layer(n, layer.d, layer.expansion, layer.heads) for n in lengths]
    series = [Series(name, _floats([float(of(one)) for one in layers])) for name, of in drawn]
    if crossing:
        points = [float(crossing(one)) if one.n in marks else math.nan for one in layers]
        series.append(Series(say("crossings"), _floats(points)))
    x = array(torch.tensor(lengths, dtype=torch.float64))
    return Curves(id, title, x, tuple(series), say("n"), label, log_x=True, log_y=True)


def _floats(numbers: Sequence[float]) -> Array:
    return array(torch.tensor(numbers, dtype=torch.float64))

"""All maps: one row of pictures per layer, the mean of its heads first."""

from __future__ import annotations

from torch import Tensor

from engine.contract.message import Message, say
from engine.contract.report import Bars, Detail, Heatmap, Scalar
from engine.labs.base import array
from engine.labs.encoder.entropies import statistics
from engine.labs.encoder.look import Look
from engine.labs.encoder.view import View
from engine.layers.encoder import EncoderTrace


def view(look: Look) -> View:
    """Show the weights of every layer and head, and the attention each word receives in layer 1."""
    _, trace = look.read()
    rest = statistics(look, trace)
    received = attention_received(trace, 0)  # (n,)
    values: dict[str, Scalar] = {
        "received_layer_1": received.tolist(),
        "most_attended": look.words[int(received.argmax())],
        **rest.values,
    }
    return View((*_maps(look, trace), _received_bars(look, received), *rest.panels), values)


def attention_received(trace: EncoderTrace, layer: int) -> Tensor:
    """Return the weight each token gets from an average query and head of a layer, (n,); they sum to 1."""
    return trace.blocks[layer].attention.weights.mean((0, 1))


def _maps(look: Look, trace: EncoderTrace) -> list[Heatmap]:
    panels = []
    for number, block in enumerate(trace.blocks, start=1):
        attention = block.attention
        mean = say("Layer {layer}, mean of the heads", layer=number)
        panels.append(_map(look, number, "mean", mean, attention.weights.mean(0)))
        for head, weights in enumerate(attention.weights, start=1):
            title = say("Layer {layer}, head {head}", layer=number, head=head)
            details = (
                Detail(say("q·k"), array(attention.products[head - 1])),
                Detail(say("score"), array(attention.scores[head - 1])),
            )
            panels.append(_map(look, number, str(head), title, weights, details))
    return panels


def _map(
    look: Look, layer: int, head: str, title: Message, weights: Tensor, details: tuple[Detail, ...] = ()
) -> Heatmap:
    return Heatmap(
        f"layer-{layer}-{head}",
        title,
        array(weights),
        look.labels,
        look.labels,
        say("queries"),
        say("keys"),
        0.0,
        1.0,
        group=f"layer-{layer}",
        details=details,
    )


def _received_bars(look: Look, received: Tensor) -> Bars:
    title = say("Attention received in layer 1 (an equal share is {share:.3f})", share=1 / len(look.words))
    return Bars("received", title, look.labels, array(received), say("mean weight"))

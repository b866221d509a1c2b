"""Reports on a learner's module or function: its parts, its maps of attention, its gradients."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from engine.contract.kinds import Text
from engine.contract.message import Message, say
from engine.contract.protocol import Probe
from engine.contract.report import Cell, Column, Heatmap, Invariant, Note, Panel, Report, Scalar, Table
from engine.contract.tokens import axis_labels, refuse_tokens, tokenize
from engine.labs.base import array, close, not_checked
from engine.probe.inputs import Inputs, candidates
from engine.probe.load import Subject, guarded, load
from engine.probe.refusal import Refused
from engine.probe.watch import Seen, first_tensor, watching

MOST_TOKENS = 64
MOST_ROWS = 200
PRINTED_LINES, PRINTED_CHARACTERS = 20, 4000
TEXT = Text(say("text"), zh="", en="", most=2000)
ACCIDENTS = say(
    "Run in a process of its own with limits on time, memory and files: this guards against accidents, not malice."
)


@dataclass(frozen=True)
class Passed:
    """One forward and backward pass of the subject."""

    subject: Subject
    tokens: list[str]
    inputs: Inputs
    output: Tensor
    seen: Seen
    gradients: dict[str, tuple[Tensor, Tensor | None]]


def probe(request: Probe) -> Report:
    """Run the learner's code on the text and report on it; raise Refused with one sentence about what is wrong."""
    tokens = _tokens(request.text)
    torch.manual_seed(request.seed)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        subject = load(request.file, request.source, request.name)
        if subject.module is not None:
            subject.module.eval()
        inputs = _fitting(request.file, subject, tokens, request.seed)
        passed = _pass(request.file, subject, tokens, inputs)
        leak = _sees_later(request.file, passed)
    panels = [*_panels(passed, leak), *_printed(printed.getvalue()), Note("limits", ACCIDENTS)]
    return Report(tuple(panels), _values(passed, leak), tuple(_invariants(request.file, passed)), seed=request.seed)


def _tokens(text: str) -> list[str]:
    read = TEXT.read(text)
    refusal = read if isinstance(read, Message) else refuse_tokens(TEXT.label, read, most=MOST_TOKENS)
    if refusal:
        raise Refused(refusal, "text")
    return tokenize(str(read))


def _fitting(file: str, subject: Subject, tokens: list[str], seed: int) -> Inputs:
    """Return the first inputs that the subject can read; raise Refused with what it said to the likeliest."""
    first: Message | None = None
    for inputs in candidates(subject.call, tokens, seed):
        refusal = _refusal(file, subject, inputs)
        if refusal is None:
            return inputs
        first = first or refusal
    raise Refused(first or say("{name} takes no input that a text could be.", name=subject.name), "name")


def _refusal(file: str, subject: Subject, inputs: Inputs) -> Message | None:
    """Return why the subject cannot read the inputs, None when it can."""
    try:
        with torch.no_grad():
            guarded(file, subject.call, *inputs.arguments)
    except Refused as refused:
        return say(
            "{name} cannot read {inputs}: {reason}", name=subject.name, inputs=inputs.words, reason=refused.message
        )
    return None


def _pass(file: str, subject: Subject, tokens: list[str], inputs: Inputs) -> Passed:
    module = subject.module
    weights: dict[str, Tensor] = dict(module.named_parameters()) if module else {}
    if not weights:
        for number, tensor in enumerate(inputs.differentiable[:1]):
            weights[f"input {number + 1}"] = tensor.requires_grad_()
    with watching(module) as seen:
        output = guarded(file, subject.call, *inputs.arguments)
    first = first_tensor(output)
    if first is None:
        message = say(
            "{name} returned {kind}; it must return a tensor of real numbers, or a tuple with one.",
            name=subject.name,
            kind=type(output).__name__,
        )
        raise Refused(message, "name")
    gradients: dict[str, tuple[Tensor, Tensor | None]] = {name: (weight, None) for name, weight in weights.items()}
    asked = {name: weight for name, weight in weights.items() if weight.requires_grad}
    if first.requires_grad and asked:
        loss = first.square().mean()
        found = guarded(file, torch.autograd.grad, loss, list(asked.values()), allow_unused=True)
        gradients |= {name: (weight, grad) for (name, weight), grad in zip(asked.items(), found, strict=True)}
    return Passed(subject, tokens, inputs, first.detach(), seen, gradients)


def _sees_later(file: str, passed: Passed) -> bool | None:
    """Tell whether the last token changes the outputs of the others; None where the output is not one a token."""
    count = len(passed.tokens)
    axis = next((axis for axis in (0, 1) if passed.output.dim() > axis and passed.output.shape[axis] == count), None)
    if axis is None:
        return None
    changed = tuple(_with_another_last(argument, count) for argument in passed.inputs.arguments)
    with torch.no_grad():
        again = first_tensor(guarded(file, passed.subject.call, *changed))
    if again is None or again.shape != passed.output.shape:
        return None
    before, after = (output.narrow(axis, 0, count - 1).nan_to_num() for output in (passed.output, again))
    return not torch.equal(before, after)


def _with_another_last(argument: Any, count: int) -> Any:
    """Return the input with the last token replaced by the first."""
    if not isinstance(argument, Tensor):
        return argument
    axis = 0 if argument.shape[0] == count else 1
    order = torch.arange(count)
    order[-1] = 0
    return argument.detach().index_select(axis, order)


def _panels(passed: Passed, leak: bool | None) -> Iterator[Panel]:
    yield Note(
        "input",
        say(
            "It read {inputs} and returned {shape}.", inputs=passed.inputs.words, shape=str(tuple(passed.output.shape))
        ),
    )
    if passed.subject.module is not None:
        yield _modules_table(passed.subject.name, passed.subject.module, passed.seen)
    yield from _maps(passed)
    if not passed.seen.maps:
        yield Note("no-map", say("Nothing in it looks like attention: no (…, n, n) whose rows sum to 1."))
    elif passed.seen.left_out:
        yield Note("more-maps", say("{count} more maps are left out.", count=passed.seen.left_out))
    if leak is not None:
        text = (
            say("The last token changes the outputs before it: every position sees later ones.")
            if leak
            else say("The last token leaves the outputs before it as they were: it is causal.")
        )
        yield Note("causal", text)
    if passed.gradients:
        yield _gradients_table(passed)


def _modules_table(name: str, module: nn.Module, seen: Seen) -> Table:
    rows: list[tuple[Cell, ...]] = []
    parts = list(module.named_modules())
    for path, part in parts[:MOST_ROWS]:
        count = sum(parameter.numel() for parameter in part.parameters())
        rows.append((path or name, type(part).__name__, seen.shapes.get(path, "–"), count))
    if len(parts) > MOST_ROWS:
        rows.append((f"… +{len(parts) - MOST_ROWS}", "", "", None))
    columns = (Column(say("part")), Column(say("kind")), Column(say("output")), Column(say("parameter count"), ",d"))
    return Table("modules", say("The parts of {name}", name=name), columns, tuple(rows))


def _maps(passed: Passed) -> Iterator[Heatmap]:
    labels = tuple(axis_labels(passed.tokens))
    for index, found in enumerate(passed.seen.maps, 1):
        for head, weights in enumerate(found.weights, 1):
            fits = labels if len(weights) == len(labels) else ()
            where = found.where or passed.subject.name
            title = say("{where}, map {number}", where=where, number=head)
            if len(found.weights) == 1:
                title = say("Attention in {where}", where=where)
            values = array(weights)
            id = f"map-{index}-{head}"
            yield Heatmap(id, title, values, fits, fits, say("queries"), say("keys"), 0.0, 1.0, group="attention")


def _gradients_table(passed: Passed) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            str(tuple(weight.shape)),
            weight.detach().norm().item(),
            say("no gradient") if gradient is None else gradient.norm().item(),
        )
        for name, (weight, gradient) in list(passed.gradients.items())[:MOST_ROWS]
    ]
    columns = (
        Column(say("parameter")),
        Column(say("shape")),
        Column(say("size"), ".4g"),
        Column(say("gradient"), ".3e"),
    )
    return Table("gradients", say("Norms, and gradients of the mean square of the output"), columns, tuple(rows))


def _printed(text: str) -> Iterator[Note]:
    lines = text[:PRINTED_CHARACTERS].splitlines()[:PRINTED_LINES]
    if lines:
        yield Note("printed", say("It printed: {text}", text=" ⏎ ".join(lines)))


def _values(passed: Passed, leak: bool | None) -> dict[str, Scalar]:
    module = passed.subject.module
    norms = [gradient.norm().item() for _, gradient in passed.gradients.values() if gradient is not None]
    values: dict[str, Scalar] = {
        "name": passed.subject.name,
        "tokens": len(passed.tokens),
        "parameters": sum(weight.numel() for weight in module.parameters()) if module else 0,
        "modules": len(list(module.modules())) if module else 0,
        "attention_maps": sum(len(found.weights) for found in passed.seen.maps) + passed.seen.left_out,
        "output_shape": [float(size) for size in passed.output.shape],
        "output_finite": bool(passed.output.isfinite().all()),
        "gradient_norm": sum(norm**2 for norm in norms) ** 0.5,
        "without_gradient": sum(gradient is None for _, gradient in passed.gradients.values()),
    }
    if leak is not None:
        values["sees_later_tokens"] = leak
    return values


def _invariants(file: str, passed: Passed) -> Iterator[Invariant]:
    name = say("the same input gives the same output")
    with torch.no_grad():
        again = first_tensor(guarded(file, passed.subject.call, *passed.inputs.arguments))
    if again is None or again.shape != passed.output.shape:
        yield not_checked(name, say("it returned something else the second time"))
    else:
        same = (again == passed.output) | (again.isnan() & passed.output.isnan())
        yield close(name, (again - passed.output).masked_fill(same, 0.0), 1e-6)

"""The labs' computations: `run_events` for the engine process, `run` for a notebook.

`import engine.labs` is light; torch is imported when the first lab runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import msgspec

from engine.contract import labs as declared
from engine.contract.message import Message
from engine.contract.parameters import InvalidParameters, Params, Problem, build, read_seed
from engine.contract.report import Event, Report


def run_events(
    name: str,
    params: Params,
    *,
    seed: int = 0,
    device: str = "cpu",
    language: str = "en",
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Run the lab `name` on valid `params`: yield its events, the last one a Report with device, seconds and seed.

    Raises UnknownLab, and engine.labs.base.Cancelled once `should_stop` says so.
    """
    lab = declared.declaration(name)
    computation = import_module(f"engine.labs.{declared.MODULES[name]}")
    from engine.labs.base import Context

    used = "cpu" if lab.runs_on == "cpu" else device
    context = Context(device=used, seed=seed, language=language, should_stop=should_stop)
    start = time.perf_counter()
    for event in computation.run(params, context):
        context.check()
        if isinstance(event, Report):
            event = msgspec.structs.replace(event, device=used, seconds=time.perf_counter() - start, seed=seed)
        yield event


def run(name: str, *, seed: int = 0, device: str = "cpu", language: str = "en", **params: Any) -> Report:
    """Run the lab `name` and return its report; raise InvalidParameters when a parameter is refused.

    >>> run("sdpa").values["largest_weight"]
    """
    read = read_seed(seed)
    if isinstance(read, Message):
        raise InvalidParameters([Problem("seed", read)])
    built = build(declared.declaration(name).parameters, params, language)
    for event in run_events(name, built, seed=read, device=device, language=language):
        if isinstance(event, Report):
            return event
    raise RuntimeError(f"the lab {name} ended without a report")

"""The labs' computations: `run_events` for the engine process, `run` for a notebook.

    >>> from engine import labs
    >>> labs.run("jacobian", rho=1.5)                      # a notebook shows the figures
    >>> labs.run("jacobian", rho=1.5).values["rho_power"]
    >>> labs.run("sdpa", language="zh").to_dict()

`import engine.labs` is light; torch is imported when the first lab runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import msgspec

from engine.contract import labs as declared
from engine.contract.message import Message
from engine.contract.parameters import InvalidParameters, Params, Problem, build, read_seed, to_plain
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
    """Run the lab `name` on valid `params`: yield its events, the last one a Report that says which run it was.

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
            seconds = time.perf_counter() - start
            event = msgspec.structs.replace(
                event, device=used, seconds=seconds, seed=seed, lab=name, params=to_plain(params)
            )
        yield event


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread, as the engine does: for models this small two are many times slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run(name: str, *, seed: int = 0, device: str = "cpu", language: str = "en", **params: Any) -> Report:
    """Run the lab `name` and return its report.

    `device` is "cpu", "cuda", "cuda:N", "mps" or "auto"; analytic labs stay on the CPU. Raises InvalidParameters when a
    parameter is refused, UnknownLab for a name that no lab has, engine.device.NoDevice for a device that is not there.
    """
    read = read_seed(seed)
    if isinstance(read, Message):
        raise InvalidParameters([Problem("seed", read)])
    lab = declared.declaration(name)
    built = build(lab.parameters, params, language)
    if lab.runs_on == "any" and device != "cpu":
        from engine.device import choose, found

        device = choose(device, lab.runs_on, found())
    with one_thread():
        for event in run_events(name, built, seed=read, device=device, language=language):
            if isinstance(event, Report):
                return event
    raise RuntimeError(f"the lab {name} ended without a report")

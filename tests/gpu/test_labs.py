"""Every lab with a card: those that take it agree with the CPU, the others stay exact where they are."""

from __future__ import annotations

import pytest
import torch

from engine.contract import labs as declared
from engine.labs import run
from tests.gpu.lab_runs import agreement, quick_parameters

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")


@pytest.mark.parametrize("name", declared.names())
def test_a_lab_with_a_card_agrees_with_the_cpu(name: str) -> None:
    torch.cuda.reset_peak_memory_stats()
    parameters = quick_parameters(name)
    on_cpu, on_card = (run(name, device=device, **parameters) for device in ("cpu", "cuda"))
    expected = "cpu" if declared.declaration(name).runs_on == "cpu" else "cuda"
    assert on_card.device.startswith(expected)
    difference = agreement(on_card, on_cpu)
    peak = torch.cuda.max_memory_allocated() / 2**20
    print(
        f"{name:20s} {on_card.device:7s} difference {difference:.1e}"
        f"  CPU {on_cpu.seconds:7.2f} s  here {on_card.seconds:7.2f} s  {peak:8.1f} MiB"
    )
    assert difference <= 1e-4
    assert [str(invariant.name) for invariant in on_card.invariants if invariant.holds is False] == []


def test_the_clock_of_the_lab_cost_times_the_card_beside_the_cpu() -> None:
    report = run("cost", show="wall-clock", n=256, device="cuda")
    print({name: value for name, value in report.values.items() if name.startswith(("ms_", "faster"))})
    assert {"ms_lstm", "ms_encoder", "ms_lstm_accelerator", "ms_encoder_accelerator"} <= set(report.values)

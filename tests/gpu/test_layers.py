"""Every layer on the card: outputs, traces and gradients equal the CPU's within 1e-4 in float32."""

from __future__ import annotations

import time

import pytest
import torch

from engine.layers.streaming_attention import attention_picture
from tests.gpu.cases import CASES
from tests.gpu.comparison import TOLERANCE, compare

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")


@pytest.mark.parametrize("name", CASES)
def test_a_layer_computes_on_the_card_what_it_computes_on_the_cpu(name: str) -> None:
    measured = compare(CASES[name], "cuda")
    print(measured.line(name))
    assert measured.difference <= TOLERANCE


@pytest.mark.parametrize("causal", [False, True])
def test_a_picture_of_16384_positions_takes_little_memory_on_the_card(causal: bool) -> None:
    query, key = (torch.randn(4, 16_384, 32, device="cuda") for _ in range(2))
    attention_picture(query[:, :500], key[:, :500], 90, causal=causal)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    picture = attention_picture(query, key, 90, causal=causal)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    extra = (torch.cuda.max_memory_allocated() - before) / 2**20
    print(f"picture of 16,384 positions, causal={causal}: {seconds * 1e3:.1f} ms, {extra:.1f} MiB")
    assert picture.isfinite().all()
    assert extra <= 36

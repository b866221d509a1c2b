"""Pictures of long attention: equal to pooling the whole map, without ever holding it; estimates that are honest."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.contract import labs as declared
from engine.labs import run
from engine.layers.attention import attend, causal_mask
from engine.layers.streaming_attention import attention_picture
from tests.engine.talk import ROOT

Pool = Literal["max", "mean"]


def directly(query: Tensor, key: Tensor, cells: int, pool: Pool, causal: bool) -> Tensor:
    """Hold the whole map and pool it."""
    n, m = query.shape[1], key.shape[1]
    _, trace = attend(query, key, key, causal_mask(n) if causal else None)
    size = (-(-n // cells), -(-m // cells))
    if pool == "max":
        return F.max_pool2d(trace.weights[None], size, ceil_mode=True)[0]
    return F.avg_pool2d(trace.weights[None], size, ceil_mode=True, count_include_pad=False)[0]


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@settings(max_examples=150)
@given(
    n=st.integers(1, 70),
    m=st.integers(1, 70),
    cells=st.integers(1, 40),
    block=st.integers(1, 80),
    pool=st.sampled_from(["max", "mean"]),
    causal=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_streamed_picture_is_the_pooled_map(
    n: int, m: int, cells: int, block: int, pool: Pool, causal: bool, seed: int
) -> None:
    query, key = draw(3, n, 4, seed=seed) * 3, draw(3, n if causal else m, 4, seed=seed + 1)
    picture = attention_picture(query, key, cells, pool=pool, causal=causal, block=block)
    assert picture.shape[1:] <= (cells, cells)
    assert torch.allclose(picture, directly(query, key, cells, pool, causal), rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("pool", ["max", "mean"])
def test_a_picture_of_a_thousand_positions_is_exact_in_float64_and_close_in_float32(pool: Pool, causal: bool) -> None:
    query, key = draw(2, 1000, 16), draw(2, 1000, 16, seed=1)
    wanted = directly(query, key, 90, pool, causal)
    assert torch.allclose(attention_picture(query, key, 90, pool=pool, causal=causal), wanted, rtol=0, atol=1e-14)
    single = attention_picture(query.float(), key.float(), 90, pool=pool, causal=causal)
    assert torch.allclose(single.double(), wanted, rtol=0, atol=1e-6)


def test_with_room_for_all_the_picture_is_the_map_and_its_rows_sum_to_one() -> None:
    query, key = draw(2, 30, 8), draw(2, 30, 8, seed=1)
    picture = attention_picture(query, key, 30, causal=True)
    assert torch.allclose(picture.sum(-1), torch.ones(2, 30, dtype=torch.float64), atol=1e-14)
    assert picture.triu(1).abs().max() == 0


def test_scores_of_thousands_overflow_nowhere() -> None:
    picture = attention_picture(1e4 * draw(1, 50, 4), draw(1, 50, 4, seed=1), 10)
    assert picture.isfinite().all()
    assert picture.max().item() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("query", "key", "options", "sentence"),
    [
        ((2, 5, 4), (2, 5, 3), {}, r"queries are \(2, 5, 4\) and keys \(2, 5, 3\)"),
        ((5, 4), (5, 4), {}, r"both must be \(heads, positions, d_k\)"),
        ((2, 5, 4), (2, 6, 4), {"causal": True}, "as many keys as queries, not 6 and 5"),
        ((2, 0, 4), (2, 6, 4), {}, "0 queries and 6 keys make no picture"),
    ],
)
def test_shapes_that_do_not_fit_get_one_sentence(
    query: tuple[int, ...], key: tuple[int, ...], options: dict[str, bool], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        attention_picture(torch.zeros(query), torch.zeros(key), 10, causal=options.get("causal", False))


@pytest.mark.parametrize("name", ["cost", "families", "long-context"])
def test_estimates_of_quick_labs_are_of_the_size_of_the_run(name: str) -> None:
    run(name)  # the first pays for what torch loads late
    seconds = min(run(name).seconds for _ in range(3))
    estimate = declared.declaration(name).estimate(declared.declaration(name).parameters()).seconds
    assert seconds / 10 < estimate < 100 * seconds + 0.5


EXTRA = """
import sys, torch
from engine.layers.streaming_attention import attention_picture
def high():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
torch.set_num_threads(1)
n = int(sys.argv[1])
query, key = torch.randn(4, n, 32), torch.randn(4, n, 32)
attention_picture(query[:, :400], key[:, :400], 90, causal=True)
before = high()
attention_picture(query, key, 90, causal=sys.argv[2] == "causal")
print(high() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
@pytest.mark.parametrize(
    ("n", "most"),
    [(4096, 12), (8192, 16), pytest.param(16384, 36, marks=pytest.mark.extreme)],
)
@pytest.mark.parametrize("kind", ["causal", "full"])
def test_the_memory_of_a_picture_stays_small(n: int, most: int, kind: str) -> None:
    if n == 8192 and kind == "full":
        pytest.skip("four seconds for what 4096 and 16384 show")
    done = subprocess.run(
        [sys.executable, "-c", EXTRA, str(n), kind], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) <= most  # MiB; the four maps alone have 4 n² · 4 bytes: 256 MiB for n = 4096

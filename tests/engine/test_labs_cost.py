"""The lab `cost`: the formulas against torch's own counter and modules, the crossings, and what the clock says."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from engine.contract import labs as declared
from engine.contract.labs.cost import CostParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Curves
from engine.flops import count_flops
from engine.labs import run
from engine.labs.cost.formulas import Layer, weights
from engine.layers.attention import attend
from tests.engine.reports import failed, number, table


def counted(work: Any) -> int:
    """Return what torch's own counter counts."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


@pytest.mark.parametrize(("n", "ratio"), [(32, 1.625), (128, 2.0), (256, 2.5), (384, 3.0)])
def test_a_layer_of_width_64_costs_so_many_lstms(n: int, ratio: float) -> None:
    assert number(run("cost", n=n), "layer_per_lstm") == ratio


def test_the_worked_example_of_the_lesson() -> None:
    values = run("cost").values
    assert values["projections"] == values["core"] == 4_194_304
    assert values["feed_forward"] == values["lstm"] == 8_388_608
    assert values["rnn"] == 2_097_152
    assert values["layer"] == 16_777_216
    assert run("cost", n=384).values["core_per_projections"] == 3.0


@settings(max_examples=20)
@given(st.integers(8, 200), st.integers(4, 40), st.integers(1, 8))
def test_the_formulas_equal_torchs_counter_on_explicit_products(n: int, d: int, expansion: int) -> None:
    layer = Layer(n, d, expansion)
    x, w = torch.zeros(n, d), torch.zeros(d, d)
    into, out_of = torch.zeros(d, expansion * d), torch.zeros(expansion * d, d)
    assert counted(lambda: [x @ w for _ in range(4)]) == layer.projections
    assert counted(lambda: x @ x.T) == layer.scores
    assert counted(lambda: torch.zeros(n, n) @ x) == layer.mixing
    assert counted(lambda: x @ into @ out_of) == layer.feed_forward
    assert counted(lambda: [(x[t : t + 1] @ w, x[t : t + 1] @ w) for t in range(n)]) == layer.rnn


def test_our_counter_counts_what_torchs_counts_and_loads_no_compiler() -> None:
    x = torch.zeros(3, 5, 4)
    linear = nn.Linear(4, 7)

    def work() -> Tensor:
        return torch.einsum("bij,bkj->bik", linear(x), linear(x)) @ torch.zeros(3, 5, 2)

    assert count_flops(work) == counted(work) > 0
    code = "import sys; from engine.labs import run; run('cost'); print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_counter_does_not_see_fused_kernels() -> None:
    report = run("cost")
    assert (report.values["counter_lstm"], report.values["counter_encoder_eval"]) == (0, 0)
    assert report.values["counter_rnn"] == 2_097_152
    # torch's kernel for training hides the attention core: 16,777,216 less 4,194,304
    assert report.values["counter_encoder_train"] == 12_582_912
    encoder = nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True)
    assert counted(lambda: encoder(torch.zeros(1, 128, 64))) == 12_582_912


@pytest.mark.parametrize("expansion", [1, 4, 7])
@pytest.mark.parametrize("d", [32, 512])
def test_weights_equal_those_of_torchs_layers(d: int, expansion: int) -> None:
    modules = {
        "rnn": nn.RNN(d, d, device="meta"),
        "gru": nn.GRU(d, d, device="meta"),
        "lstm": nn.LSTM(d, d, device="meta"),
        "encoder": nn.TransformerEncoderLayer(d, 4, expansion * d, device="meta"),
        "decoder": nn.TransformerDecoderLayer(d, 4, expansion * d, device="meta"),
    }
    formulas = weights(d, expansion)
    for name, module in modules.items():
        assert formulas[name] == sum(parameter.numel() for parameter in module.parameters())


def test_the_weights_of_the_course() -> None:
    values = run("cost", d=512, show="weights").values
    expected = {
        "weights_rnn": 525_312,
        "weights_gru": 1_575_936,
        "weights_lstm": 2_101_248,
        "weights_encoder": 3_152_384,
        "weights_decoder": 4_204_032,
        "known_lstm": 16_793_600,
        "known_encoder": 4_738_560,
        "known_base": 44_140_544,
        "known_bert": 109_482_240,
    }
    assert {name: values[name] for name in expected} == expected
    shares = {"feed_forward_share": 0.666, "share_base": 0.571, "share_base_vocabulary": 0.399, "share_bert": 0.518}
    assert {name: round(float(str(values[name])), 3) for name in shares} == shares


def test_score_matrices_of_a_bert_base_sized_model_take_2_42_gb_at_2048_tokens() -> None:
    report = run("cost", n=2048, d=768, layers=12, heads=12, show="memory")
    assert round(number(report, "score_gigabytes"), 2) == 2.42
    assert number(report, "shared_cache_bytes") == number(report, "cache_bytes") / 12


def peak_bytes(work: Any) -> int:
    """Return the largest sum of live allocations while `work` runs, by torch's profiler."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        work()
    live = peak = 0
    events = profiler.profiler.kineto_results.events()
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        live += event.nbytes()
        peak = max(peak, live)
    return peak


def test_naive_attention_holds_scores_and_weights_at_once_and_the_fused_kernel_neither() -> None:
    n = 1024
    query, key, value = torch.randn(3, 1, 1, n, 64).unbind()
    with torch.no_grad():
        naive = peak_bytes(lambda: attend(query, key, value))
        fused = peak_bytes(lambda: nn.functional.scaled_dot_product_attention(query, key, value))
    assert Layer(n, 64).naive_bytes <= naive <= 1.1 * Layer(n, 64).naive_bytes
    assert fused < Layer(n, 64).naive_bytes / 4


def test_crossings_are_where_the_curves_meet() -> None:
    report = run("cost", d=96, expansion=3)
    assert {row[1]: row[2] for row in table(report, "crossings").rows} == {
        "n = d": 96,
        "n = 2d": 192,
        "n = 4d": 384,
        "n = 5d": 480,
    }
    curves = report.panel("operations")
    assert isinstance(curves, Curves)
    named = {str(series.name): list(series.y.flat()) for series in curves.series}
    x = list(curves.x.flat())
    marked = [n for n, y in zip(x, named["crossings"], strict=True) if y == y]
    assert marked == [96, 192, 384, 480]
    assert named["scores and mixing"][x.index(192)] == named["projections"][x.index(192)]
    assert named["scores and mixing"][x.index(384)] == named["LSTM"][x.index(384)]


@pytest.mark.parametrize("show", ["FLOPs", "memory", "weights"])
@pytest.mark.parametrize(
    "params",
    [
        {"n": 8, "d": 16, "heads": 1, "expansion": 1},
        {"n": 8192, "d": 1024, "heads": 16, "layers": 48, "expansion": 8},
        {"n": 8192, "d": 17, "heads": 1},
        {"n": 100, "d": 1020, "heads": 15},
    ],
)
def test_every_statement_holds_at_the_ends_of_the_ranges(show: str, params: dict[str, Any]) -> None:
    report = run("cost", show=show, **params)
    assert failed(report) == []
    assert all(invariant.holds for invariant in report.invariants)


def test_layers_multiply_what_is_paid_per_layer_and_nothing_else() -> None:
    one, many = run("cost").values, run("cost", layers=12).values
    for name in ("projections", "layer", "lstm", "score_bytes", "cache_bytes", "weights_encoder"):
        assert many[name] == 12 * int(str(one[name]))
    for name in ("layer_per_lstm", "crossing_projections", "naive_bytes", "feed_forward_share"):
        assert many[name] == one[name]


def test_on_one_core_the_lstm_trains_a_long_sentence_faster() -> None:
    threads = torch.get_num_threads()
    report = run("cost", show="wall-clock", n=1024)
    assert report.values["faster"] == "LSTM"
    assert number(report, "encoder_per_lstm") > 1.5
    rows = table(report, "times").rows
    assert [row[1] for row in rows] == [16, 64, 128, 256, 512, 1024]
    assert number(report, "ms_lstm") == rows[-1][2]
    assert torch.get_num_threads() == threads


def test_the_estimate_of_a_timed_run_is_of_its_size() -> None:
    estimate = declared.declaration("cost").estimate
    longest = run("cost", show="wall-clock", n=1024).seconds
    assert longest / 12 < estimate(CostParams(show="wall-clock", n=1024)).seconds < longest * 12
    assert estimate(CostParams()).seconds < 1


@pytest.mark.parametrize(
    ("params", "field", "part"),
    [
        ({"d": 100, "heads": 3}, "heads", "3 heads cannot share a width of 100 equally; choose one of: 1, 2, 4, 5, 10"),
        ({"d": 17}, "heads", "choose one of: 1."),
        ({"show": "wall-clock", "n": 2000}, "n", "n is 2000, but times are measured for at most 1024 tokens."),
        ({"n": 7}, "n", "sequence length n is 7, but it must lie between 8 and 8192."),
    ],
)
def test_what_does_not_go_together_gets_one_sentence(params: dict[str, Any], field: str, part: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("cost", **params)
    (problem,) = caught.value.problems
    assert problem.field == field
    assert part in str(problem.message)

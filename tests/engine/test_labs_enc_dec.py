"""The lab `enc-dec`: one pass, token by token, with the cache; shapes, masks and the counts of the paper's model."""

from __future__ import annotations

from itertools import product

import pytest

from engine.contract.parameters import InvalidParameters
from engine.labs import run
from tests.engine.reports import failed, heatmap, number, table


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("sizes", [(2, 1, 16, 1, 1), (6, 5, 16, 2, 1), (12, 10, 64, 16, 3), (3, 2, 32, 8, 2)])
def test_every_way_of_reading_gives_the_same_logits(sizes: tuple[int, ...], cache: bool) -> None:
    src, tgt, d, heads, layers = sizes
    report = run("enc-dec", src=src, tgt=tgt, d=d, heads=heads, layers=layers, cache=cache)
    assert failed(report) == []
    assert number(report, "stepwise_difference") < 1e-12
    assert number(report, "stepwise_difference_float32") < 1e-5
    assert number(report, "cache_difference") < 1e-12
    assert number(report, "shuffle_difference") < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_source_matters_only_with_positions(seed: int) -> None:
    report = run("enc-dec", seed=seed)
    assert report.values["shuffle_changes"] is False
    assert number(report, "shuffle_difference_positions") > 1e-3
    assert number(report, "unmasked_change") > 0.1


def test_one_target_token_has_no_future_to_see() -> None:
    report = run("enc-dec", tgt=1)
    last = report.invariants[-1]
    assert (last.holds, str(last.detail)) == (None, "not checked: one target token has no future to see")
    assert number(report, "unmasked_change") == 0.0
    assert number(report, "multiply_adds_cached") == number(report, "multiply_adds_uncached")


def test_maps_have_the_shapes_of_source_and_target() -> None:
    report = run("enc-dec", src=6, tgt=5)
    for id, rows, columns in (("encoder-self", 6, 6), ("decoder-self", 5, 5), ("cross", 5, 6)):
        panel = heatmap(report, id)
        assert panel.values.shape == (rows, columns)
        assert [sum(row) for row in panel.values.rows()] == pytest.approx([1.0] * rows, abs=1e-12)
    causal = heatmap(report, "decoder-self").values.rows()
    assert all(causal[i][j] == 0.0 for i, j in product(range(5), repeat=2) if j > i)
    assert heatmap(report, "cross").row_labels == ("t₁", "t₂", "t₃", "t₄", "t₅")


def test_every_shape_is_printed_as_the_formulas_say() -> None:
    src, tgt, d, heads = 6, 5, 32, 4
    rows = table(run("enc-dec", src=src, tgt=tgt, d=d, heads=heads), "shapes").rows
    shapes = {str(row[0]): row[1] for row in rows}
    assert shapes == {
        "source tokens": "6",
        "E[source]·√d + PE": "6 × 32",
        "encoder: queries": "4 × 6 × 8",
        "encoder: scores": "4 × 6 × 6",
        "encoder: inside the FFN": "6 × 128",
        "memory (the encoder's output)": "6 × 32",
        "target, shifted by one": "5",
        "E[target]·√d + PE": "5 × 32",
        "decoder: queries": "4 × 5 × 8",
        "decoder: scores, causal": "4 × 5 × 5",
        "cross: queries": "4 × 5 × 8",
        "cross: scores": "4 × 5 × 6",
        "cross: keys": "4 × 6 × 8",
        "decoder: inside the FFN": "5 × 128",
        "logits": "5 × 20",
    }


@pytest.mark.parametrize(("src", "tgt", "d", "layers"), [(6, 5, 16, 1), (12, 10, 64, 3)])
def test_multiply_adds_are_those_of_the_products_in_the_formulas(src: int, tgt: int, d: int, layers: int) -> None:
    def decoder(new: int, past: int, project_memory: bool) -> int:
        own = 4 * new * d * d + 2 * new * (past + new) * d  # Q, K, V, O; scores and mixing
        cross = 2 * new * d * d + (2 * src * d * d if project_memory else 0) + 2 * new * src * d
        feed_forward = 2 * new * d * 4 * d
        return layers * (own + cross + feed_forward) + new * d * 20  # and the logits

    report = run("enc-dec", src=src, tgt=tgt, d=d, layers=layers)
    again = [decoder(step, 0, project_memory=True) for step in range(1, tgt + 1)]
    cached = [decoder(1, step, project_memory=step == 0) for step in range(tgt)]
    *rows, total = table(report, "costs").rows
    assert [row[2] for row in rows] == again
    assert [row[3] for row in rows] == cached
    assert (total[1], total[2], total[3]) == (tgt * (tgt + 1) // 2, sum(again), sum(cached))
    assert report.values["multiply_adds"] == report.values["multiply_adds_uncached"] == sum(again)
    assert run("enc-dec", src=src, tgt=tgt, d=d, layers=layers, cache=True).values["multiply_adds"] == sum(cached)


def test_the_base_model_has_as_many_weights_as_published() -> None:
    values = run("enc-dec").values
    assert values["base_encoder_block"] == 3_152_384
    assert values["base_decoder_block"] == 4_204_032
    assert values["base_body"] == 44_138_496
    assert values["base_torch"] == 44_140_544
    assert values["weights_encoder_block"] == 12 * 16**2 + 13 * 16
    assert [row[1] for row in table(run("enc-dec"), "sizes").rows][:2] == [
        values["weights_encoder_block"],
        values["weights_decoder_block"],
    ]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"src": 1}, "source tokens S is 1, but it must lie between 2 and 12."),
        ({"tgt": 0}, "target tokens T is 0, but it must lie between 1 and 10."),
        ({"heads": 3}, "number of heads cannot be “3”; choose one of: 1, 2, 4, 8, 16."),
        ({"d": 48}, "width d cannot be “48”; choose one of: 16, 32, 64."),
    ],
)
def test_sizes_out_of_range_are_refused_in_one_sentence(params: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("enc-dec", **params)  # type: ignore[arg-type]
    assert [str(p.message) for p in caught.value.problems] == [message]

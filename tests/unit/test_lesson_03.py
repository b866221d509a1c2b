"""What L03 says by hand is so: its examples, its faulty code, its shares of memory and its quiz."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from engine import labs
from engine.layers.rnn import RNN
from tests.unit.lesson_texts import matrices, numbers, prose, table
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz

SLUG = "rnn"
each_language = pytest.mark.parametrize("language", LANGUAGES)


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def states(xs: Tensor, W_xh: Tensor, W_hh: Tensor, h: Tensor) -> Tensor:
    """h_1 … h_T (T, H) of an RNN without bias that starts from h."""
    found = []
    for x in xs:
        h = torch.tanh(W_xh @ x + W_hh @ h)
        found.append(h)
    return torch.stack(found)


def run_of(id: str, language: str, **params: Any) -> dict[str, Any]:
    """The values of a lab of the lesson, with some of its parameters changed."""
    lab = lesson(SLUG, language).lab(id)
    assert lab is not None
    seed = params.pop("seed", lab.seed)
    return dict(labs.run(lab.name, seed=seed, language=language, **{**lab.params, **params}).values)


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson(SLUG, language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q03-{number}" for number in range(1, 6)), "R03-1", "R03-2"}
        assert {lab.params.get("init", "worked") for lab in found.labs} == {"worked", "tiny", "orthogonal"}
        assert all(step.predictions for step in found.steps if step.lab)


@each_language
def test_the_worked_example_turns_and_shrinks_and_sees_the_order(language: str) -> None:
    W_xh, W_hh = matrices(prose(SLUG, "by-hand", language))
    xs = torch.stack([tensor(1, 0), tensor(0, 1), tensor(1, 1)])
    last = states(xs.flip(0), W_xh, W_hh, tensor(0, 0))[-1]
    assert last.tolist() == pytest.approx(numbers("0.1267 0.3563"), abs=5e-5)
    turned = W_hh @ tensor(1, 0)
    assert math.degrees(math.atan2(turned[1].item(), turned[0].item())) == pytest.approx(45)
    assert (W_hh @ W_hh.T).tolist() == [[0.5, 0], [0, 0.5]], "every vector shrinks to √½ of its length"
    assert math.sqrt(0.5) == pytest.approx(0.71, abs=5e-3)
    assert (W_hh @ tensor(0.4621, 0)).tolist() == pytest.approx([0.2311, 0.2311], abs=6e-5)


def test_the_weights_are_as_many_as_the_lesson_counts() -> None:
    assert 4 * (3 + 4 + 1) == 32
    assert sum(weight.numel() for weight in torch.nn.RNN(3, 4).parameters()) == 36


@each_language
def test_the_shapes_of_the_quiz_are_those_of_the_layer(language: str) -> None:
    layer = RNN(3, 4)
    hidden, _ = layer(torch.zeros(5, 3))
    outputs = torch.nn.Linear(4, 2)(hidden)
    shapes = (*hidden.shape, *layer.state_weight.shape, *outputs.shape)
    assert answer_of("Q03-3", SLUG) == tuple(str(size) for size in shapes)
    assert "W_{hy}^\\top" in prose(SLUG, "output", language)


def test_the_output_product_in_the_wrong_order_fails_aloud_or_sums_over_time() -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(2, 4, generator=generator)
    with pytest.raises(RuntimeError):
        weight @ torch.zeros(5, 4)
    square = torch.randn(4, 4, generator=generator)
    assert torch.allclose(weight @ square, torch.einsum("ot,tj->oj", weight, square))
    assert not torch.allclose(weight @ square, (square @ weight.T).T)


def test_columns_and_rows_agree_and_the_turned_matrix_is_another_rnn() -> None:
    snippet = code(SLUG, "en")[0]
    assert code(SLUG, "zh") == code(SLUG, "en")
    generator = torch.Generator().manual_seed(0)
    W_xh, W_hh, b_h = (torch.randn(*shape, generator=generator) for shape in ((4, 3), (4, 4), (4,)))
    xs, hs = torch.randn(5, 3, generator=generator), torch.randn(5, 4, generator=generator)
    scope: dict[str, Any] = {"torch": torch, "W_xh": W_xh, "W_hh": W_hh, "b_h": b_h, "xs": xs, "hs": hs}
    for sentence in range(5):
        exec(snippet, {**scope, "x": xs[sentence], "h": hs[sentence]}, scope)
        assert torch.allclose(scope["new"], scope["news"][sentence], atol=1e-6)
    assert not torch.allclose(hs @ W_hh, hs @ W_hh.T)
    assert (torch.zeros(4) + torch.zeros(4, 1)).shape == (4, 4)


def test_the_faulty_function_fails_as_the_lesson_says() -> None:
    scope: dict[str, Any] = {"torch": torch}
    exec(code(SLUG, "en")[1], scope)
    generator = torch.Generator().manual_seed(0)
    W_xh, W_hh = torch.randn(4, 3, generator=generator), torch.randn(4, 4, generator=generator)
    start = torch.ones(4)
    with pytest.raises(RuntimeError):
        scope["read"](torch.zeros(5, 3), W_xh, W_hh, start)
    xs = torch.randn(4, 3, generator=generator)
    assert torch.allclose(scope["read"](xs, W_xh, W_hh, start), states(xs, W_xh, W_hh, torch.zeros(4)))
    assert not torch.allclose(scope["read"](xs, W_xh, W_hh, start), states(xs, W_xh, W_hh, start))


def test_a_later_word_changes_no_earlier_state() -> None:
    layer, generator = RNN(3, 4, generator=torch.Generator().manual_seed(0)), torch.Generator().manual_seed(1)
    xs = torch.randn(6, 3, generator=generator)
    other = xs.clone()
    other[3] += 1
    before, after = layer(xs)[0], layer(other)[0]
    assert torch.equal(before[:3], after[:3])
    assert (before[3:] - after[3:]).abs().amax(-1).min() > 0


@each_language
def test_the_tiny_start_forgets_as_fast_as_the_options_say(language: str) -> None:
    tiny, kept = run_of("tiny", language), run_of("kept", language)
    assert tiny["moved_by_first"] < 1e-6
    assert tiny["moved"][5] == pytest.approx(1e-3, abs=8e-4), "the first six replaced"
    assert kept["first_sensitivity"] > 1e8 * tiny["first_sensitivity"]
    assert math.isclose(0.03**7, 2e-11, rel_tol=0.1)
    assert 0.02 < tiny["first_sensitivity"] ** (1 / 7) < 0.05


def test_which_of_scaled_and_orthogonal_remembers_more_depends_on_the_seed() -> None:
    def remembers(init: str, seed: int) -> float:
        return float(run_of("kept", "en", init=init, seed=seed)["first_sensitivity"])

    better = {remembers("orthogonal", seed) > remembers("scaled", seed) for seed in range(6)}
    assert better == {True, False}


@each_language
def test_spectral_radii_are_about_those_of_the_table(language: str) -> None:
    generator = torch.Generator().manual_seed(0)
    draws = torch.randn(400, 8, 8, generator=generator, dtype=torch.float64)
    radius = torch.linalg.eigvals(draws).abs().amax(-1).median().item()
    tiny, scaled, orthogonal = table(prose(SLUG, "radius", language))
    assert float(tiny[2]) == pytest.approx(0.01 * math.sqrt(8), abs=5e-4) == pytest.approx(0.01 * radius, rel=0.1)
    assert float(scaled[2]) == pytest.approx(radius / math.sqrt(8), rel=0.1)
    rotations = torch.linalg.qr(draws).Q
    assert torch.allclose(torch.linalg.eigvals(rotations).abs(), tensor(float(orthogonal[2])), atol=1e-12)


def test_the_spectral_radius_of_the_quiz_is_nearest_to_its_answer() -> None:
    draws = torch.randn(40, 32, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    radius = torch.linalg.eigvals(0.01 * draws).abs().amax(-1).median().item()
    assert answer_of("Q03-4", SLUG) == "0.06"
    assert min((0.01, 0.06, 0.32, 1.0), key=lambda offered: abs(offered - radius)) == 0.06
    assert 0.01 * math.sqrt(32) == pytest.approx(0.057, abs=5e-4)


@each_language
def test_backpropagation_through_time_by_hand_is_autograds(language: str) -> None:
    xs, hidden, slopes, deltas, terms = (row[1:] for row in table(prose(SLUG, "bptt-by-hand", language)))
    w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    h, found, pre = torch.zeros((), dtype=torch.float64), [], []
    for x in numbers(" ".join(xs)):
        pre.append(w * h + x)
        h = torch.tanh(pre[-1])
        found.append(h)
    assert [state.item() for state in found] == pytest.approx(numbers(" ".join(hidden)), abs=5e-5)
    assert [1 - state.item() ** 2 for state in found] == pytest.approx(numbers(" ".join(slopes)), abs=6e-5)
    gradients = torch.autograd.grad(h, pre, retain_graph=True)
    assert [gradient.item() for gradient in gradients] == pytest.approx(numbers(" ".join(deltas)), abs=6e-5)
    before = [0.0, *(state.item() for state in found[:-1])]
    products = [gradient.item() * state for gradient, state in zip(gradients, before, strict=True)]
    assert products == pytest.approx(numbers(" ".join(terms)), abs=6e-5)
    (whole,) = torch.autograd.grad(h, w)
    assert whole.item() == pytest.approx(sum(products)) == pytest.approx(0.3785, abs=6e-5)
    assert "0.3785" in prose(SLUG, "bptt-by-hand", language)
    assert products[-1] == pytest.approx(0.1982, abs=6e-5), "one step back only"
    assert "0.1982" in prose(SLUG, "truncated", language)
    assert gradients[0].item() / gradients[2].item() == pytest.approx(0.1, abs=0.02)


def test_the_formula_of_backpropagation_through_time_is_autograds() -> None:
    generator = torch.Generator().manual_seed(0)
    layer = RNN(3, 4, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        layer.input_bias.zero_()
        layer.state_bias.zero_()
    xs = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    reached = torch.randn(6, 4, generator=generator, dtype=torch.float64)  # g_t
    hidden, _ = layer(xs)
    expected = torch.autograd.grad((hidden * reached).sum(), (layer.state_weight, layer.input_weight, layer.state_bias))
    hidden, back = hidden.detach(), torch.zeros(4, dtype=torch.float64)
    before = torch.cat((torch.zeros(1, 4, dtype=torch.float64), hidden[:-1]))
    deltas = torch.zeros_like(hidden)
    for t in reversed(range(6)):
        deltas[t] = back = (layer.state_weight.detach().T @ back + reached[t]) * (1 - hidden[t].square())
    for ours, theirs in zip((deltas.T @ before, deltas.T @ xs, deltas.sum(0)), expected, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-12)


def test_perplexity_of_a_half_a_quarter_and_an_eighth_is_four() -> None:
    loss = -sum(math.log(p) for p in (1 / 2, 1 / 4, 1 / 8)) / 3
    assert math.exp(loss) == pytest.approx(4)


def test_the_numbers_of_the_quiz_are_recomputed() -> None:
    assert answer_of("Q03-1", SLUG) == pytest.approx(math.tanh(0.5 * math.tanh(1)), abs=5e-5)
    assert answer_of("R03-2", SLUG) == "0.005"
    assert math.isclose(0.9**50, 0.005, abs_tol=5e-4)
    assert math.isclose(0.9**7, 0.5, abs_tol=0.03)

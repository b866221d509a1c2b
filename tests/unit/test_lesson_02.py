"""What L02 says by hand is so: its examples, its code, its warnings and its quiz."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine import labs
from tests.unit.lesson_texts import matrices, numbers, prose, table
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz

SLUG = "feedforward"
each_language = pytest.mark.parametrize("language", LANGUAGES)


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson(SLUG, language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q02-{number}" for number in range(1, 7)), "R02-1", "R02-2"}
        assert {lab.name for lab in found.labs} == {"activations", "backprop"}
        assert {lab.params["mode"] for lab in found.labs if lab.name == "backprop"} == {"trace", "xor"}
        assert {step.lab.name for step in found.steps if step.predictions and step.lab} == {"activations", "backprop"}


@each_language
def test_two_layers_without_a_bend_are_the_one_of_the_example(language: str) -> None:
    first, second, product = matrices(prose(SLUG, "bend", language))
    x = tensor(1, 1)
    assert torch.equal(second @ first, product)
    assert (first @ x).tolist() == [3, 1]
    assert (second @ (first @ x)).tolist() == (product @ x).tolist() == [3, 10]


@each_language
def test_the_four_curves_are_drawn_as_they_are(language: str) -> None:
    curves = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "ReLU": torch.relu, "GELU": F.gelu}
    x = torch.arange(-4, 4.25, 0.5, dtype=torch.float64)
    for name, curve in curves.items():
        y = curve(x)
        heights = ((y - y.min()) / (y.max() - y.min()) * 7).round().int().tolist()
        drawn = "".join("▁▂▃▄▅▆▇█"[height] for height in heights)
        assert f"{name:11}{drawn} " in prose(SLUG, "activations", language)


def slopes(curve: Any, x: Tensor) -> Tensor:
    at = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(curve(at).sum(), at)
    return gradient


def test_ranges_and_slopes_are_those_of_the_table() -> None:
    x = torch.linspace(-12, 12, 24001, dtype=torch.float64)
    sigmoid, gelu = slopes(torch.sigmoid, x), slopes(F.gelu, x)
    assert sigmoid.max().item() == pytest.approx(0.25, abs=1e-12)
    assert answer_of("Q02-6", SLUG) == 0.25
    assert torch.allclose(sigmoid, torch.sigmoid(x) * (1 - torch.sigmoid(x)), atol=1e-12)
    assert torch.allclose(slopes(torch.tanh, x), 1 - torch.tanh(x).square(), atol=1e-12)
    assert F.gelu(x).min().item() == pytest.approx(-0.17, abs=5e-3)
    assert [gelu.min().item(), gelu.max().item()] == pytest.approx([-0.13, 1.13], abs=5e-3)
    assert slopes(torch.relu, tensor(0)).item() == 0


def test_the_slopes_of_tanh_named_in_the_options_are_where_they_are_said_to_be() -> None:
    near, further, far = slopes(torch.tanh, tensor(1.5, 2.6, 5)).tolist()
    assert near == pytest.approx(0.2, abs=0.03)
    assert further == pytest.approx(0.02, abs=0.003)
    assert far < 1e-3
    assert math.tanh(5) == pytest.approx(0.9999, abs=5e-5)
    assert far / slopes(torch.tanh, tensor(6)).item() == pytest.approx(math.e**2, rel=1e-3)


def test_the_three_activations_in_code_are_torchs_with_their_gradients() -> None:
    (snippet,) = code(SLUG, "en")
    assert code(SLUG, "zh") == [snippet]
    scope: dict[str, Any] = {"torch": torch}
    exec(snippet, scope)
    x = torch.arange(-60, 61, dtype=torch.float64) / 10  # 0 is one of them
    for name, curve in {"relu": torch.relu, "tanh": torch.tanh, "gelu": F.gelu}.items():
        assert torch.allclose(scope[name](x), curve(x), atol=1e-12)
        assert torch.allclose(slopes(scope[name], x), slopes(curve, x), atol=1e-12)


def test_the_sigmoids_that_break_break_as_the_table_says() -> None:
    def naive(x: Tensor) -> Tensor:
        return 1 / (1 + torch.exp(-x))

    def other(x: Tensor) -> Tensor:
        return torch.exp(x) / (1 + torch.exp(x))

    def both(x: Tensor) -> Tensor:
        return torch.where(x >= 0, naive(x), other(x))

    assert naive(tensor(-1000)).item() == 0
    assert math.isnan(slopes(naive, tensor(-1000)).item())
    assert math.isnan(other(tensor(1000)).item())
    assert math.isinf(torch.tensor(500.0).exp().item())
    assert math.isnan(slopes(lambda x: naive(x.clamp(-500, 500)), torch.tensor([-200.0])).item())
    assert both(tensor(1000)).item() == 1
    assert math.isnan(slopes(both, tensor(1000)).item())


@each_language
def test_descent_on_a_parabola_goes_as_the_table_says(language: str) -> None:
    for rate, factor, path in table(prose(SLUG, "loss", language)):
        assert numbers(factor) == pytest.approx([1 - 4 * float(rate)])
        theta = [1.0]
        for _ in range(3):
            theta.append(theta[-1] - float(rate) * 4 * theta[-1])
        assert numbers(path) == pytest.approx(theta)
    rate_of_the_quiz = answer_of("Q02-4", SLUG)
    assert isinstance(rate_of_the_quiz, float)
    assert 1 - 4 * rate_of_the_quiz == -1


@each_language
def test_probabilities_and_losses_are_those_of_torch(language: str) -> None:
    z = tensor(2, 1, 0)
    probabilities, losses = table(prose(SLUG, "classes", language))
    assert numbers(" ".join(probabilities[1:])) == pytest.approx(z.softmax(0).tolist(), abs=5e-4)
    expected = [F.cross_entropy(z, torch.tensor(target)).item() for target in range(3)]
    assert numbers(" ".join(losses[1:])) == pytest.approx(expected, abs=5e-4)
    assert "0.69" in prose(SLUG, "classes", language)
    assert "2.30" in prose(SLUG, "classes", language)
    assert [math.log(2), math.log(10)] == pytest.approx([0.69, 2.30], abs=5e-3)
    gradient = slopes(lambda x: F.cross_entropy(x, torch.tensor(1)), z)
    assert torch.allclose(gradient, z.softmax(0) - F.one_hot(torch.tensor(1), 3), atol=1e-12)


def test_the_variance_of_a_sum_of_random_weights_is_that_of_the_formula() -> None:
    """Weights ±s, equally likely, have mean 0 and standard deviation s: all their sums over four inputs, exactly."""
    x, s = tensor(1, -2, 0.5, 3), 0.7
    sums = s * torch.cartesian_prod(*[tensor(-1, 1)] * 4) @ x  # (16,)
    assert sums.var(correction=0).item() == pytest.approx(4 * s**2 * x.square().mean().item())
    assert math.isclose(2**10, 1000, rel_tol=0.03)
    symmetric = torch.cat((x, -x))
    assert torch.relu(symmetric).square().mean().item() == pytest.approx(symmetric.square().mean().item() / 2)


def test_the_scalar_chain_rule_gives_three() -> None:
    assert slopes(lambda w: (w * 3 - 5).square() / 2, tensor(2)).item() == 3


@each_language
def test_the_outer_product_is_the_one_shown_and_the_derivative_of_wx_has_three_axes(language: str) -> None:
    column, row, product = matrices(prose(SLUG, "vectors", language))
    assert torch.equal(column @ row, product)
    weight = torch.zeros(2, 3, dtype=torch.float64)
    assert torch.func.jacrev(lambda w: w @ tensor(1, 2, 3))(weight).shape == (2, 2, 3)


def test_the_shapes_of_the_quiz_are_those_of_autograd() -> None:
    weight, bias = torch.zeros(64, 10, requires_grad=True), torch.zeros(64, requires_grad=True)
    output = torch.zeros(32, 10) @ weight.T + bias
    gradients = torch.autograd.grad(output.sum(), (weight, bias))
    shapes = (*output.shape, *gradients[0].shape, *gradients[1].shape)
    assert answer_of("Q02-2", SLUG) == tuple(str(size) for size in shapes)
    assert gradients[1].tolist() == [32.0] * 64
    looked_up = torch.zeros(9, 8)[torch.zeros(3, 5, dtype=torch.long)]
    assert answer_of("R02-2", SLUG) == tuple(str(size) for size in looked_up.shape)


@each_language
def test_differences_of_a_cube_are_those_of_the_table(language: str) -> None:
    (_, one_sided, _), (_, central, _) = table(prose(SLUG, "check", language))
    step = 0.01
    assert float(one_sided) == pytest.approx(((1 + step) ** 3 - 1) / step, abs=5e-5)
    assert float(central) == pytest.approx(((1 + step) ** 3 - (1 - step) ** 3) / (2 * step), abs=5e-5)

    def error(step: float) -> float:
        return abs(((1 + step) ** 3 - (1 - step) ** 3) / (2 * step) - 3)

    assert error(step) == pytest.approx(step**2)
    assert error(1e-5) < 1e-9
    assert error(1e-15) > 0.01


def test_two_units_by_hand_compute_xor() -> None:
    for x1, x2, target in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        assert max(0, x1 + x2) - 2 * max(0, x1 + x2 - 1) == target


def test_descent_with_two_units_gets_stuck_and_with_one_it_never_solves_xor() -> None:
    assert labs.run("backprop", seed=0, mode="xor", hidden=2).values["solved"] is False
    assert labs.run("backprop", seed=0, mode="xor", hidden=1).values["solved"] is False


@each_language
def test_fifty_factors_multiply_to_what_the_table_says(language: str) -> None:
    for factor, product in table(prose(SLUG, "deep", language)):
        assert float(factor) ** 50 == pytest.approx(float(product), rel=0.04)
    assert math.isclose(0.25**10, 1e-6, rel_tol=0.05)


def gradients(net: torch.nn.Sequential) -> dict[str, Tensor]:
    """The gradient of a loss that is not at its minimum, by the name of the weight."""
    loss = (net(torch.tensor([[1.0, 2.0], [0.0, 1.0]])) - 1).square().sum()
    names, weights = zip(*net.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(loss, weights), strict=True))


@pytest.mark.parametrize("bend", [torch.nn.Tanh(), torch.nn.ReLU()])
def test_from_zero_weights_only_the_output_bias_learns(bend: torch.nn.Module) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), bend, torch.nn.Linear(3, 1))
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    assert [name for name, gradient in gradients(net).items() if gradient.any()] == ["2.bias"]


def test_equal_units_get_equal_gradients() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    for parameter in net.parameters():
        torch.nn.init.constant_(parameter, 0.5)
    first, second = gradients(net)["0.weight"]
    assert torch.equal(first, second)
    assert first.any()

"""The lessons say only what a run bears out: labs, live numbers, worked examples, code and the quiz's numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from engine import labs
from engine.contract.labs import declaration
from engine.contract.report import Report
from engine.layers.shared_slice import SharedSliceAttention
from tutor.course.asserts import assertions, check_run
from tutor.course.catalog import LANGUAGES, Catalog
from tutor.course.model import Lesson, Predict, Prose, Quiz
from tutor.course.quotes import fill_quotes

CATALOG = Catalog()


def trains(slug: str) -> bool:
    """Tell whether a lab of the lesson trains, which takes seconds."""
    return any(declaration(lab.name).trains for lab in CATALOG.lesson(CATALOG.resolve(slug).info, "en").labs)


# A lesson that trains is tried in English every time, in Chinese by `make test-all`: its labs are the same.
LESSONS = [
    pytest.param(info.slug, language, marks=[pytest.mark.extreme] if language == "zh" and trains(info.slug) else [])
    for info in CATALOG.course.lessons
    for language in LANGUAGES
]


class Runs(dict[tuple[str, str], dict[str, Report]]):
    """The runs of a lesson with its own parameters, made when first asked for: lab block id → report."""

    def __missing__(self, key: tuple[str, str]) -> dict[str, Report]:
        slug, language = key
        self[key] = {
            lab.id: labs.run(lab.name, seed=lab.seed, language=language, **lab.params)
            for lab in lesson(slug, language).labs
        }
        return self[key]


@pytest.fixture(scope="module")
def reports() -> Runs:
    """The runs of the lessons."""
    return Runs()


def lesson(slug: str, language: str) -> Lesson:
    return CATALOG.lesson(CATALOG.resolve(slug).info, language)


def code(slug: str, language: str) -> list[str]:
    sources = [
        block.source for step in lesson(slug, language).steps for block in step.blocks if isinstance(block, Prose)
    ]
    return re.findall(r"```python\n(.*?)```", "\n".join(sources), re.DOTALL)


@pytest.mark.parametrize(("slug", "language"), LESSONS)
def test_every_claim_and_every_live_number_is_borne_out_by_the_labs(reports: Runs, slug: str, language: str) -> None:
    values = {id: report.values for id, report in reports[slug, language].items()}
    assert [(fault.place, str(fault.message)) for fault in check_run(lesson(slug, language), values)] == []


@pytest.mark.parametrize(("slug", "language"), LESSONS)
def test_every_invariant_of_a_lessons_lab_holds(reports: Runs, slug: str, language: str) -> None:
    broken = [
        (id, str(invariant.name), str(invariant.detail))
        for id, report in reports[slug, language].items()
        for invariant in report.invariants
        if invariant.holds is False
    ]
    assert broken == []


@pytest.mark.parametrize(("slug", "language"), LESSONS)
def test_no_braces_are_left_once_the_labs_have_run(reports: Runs, slug: str, language: str) -> None:
    values = {id: report.values for id, report in reports[slug, language].items()}
    for step in lesson(slug, language).steps:
        for block in step.blocks:
            if isinstance(block, Prose):
                assert set(fill_quotes(block.source, values)) == set(re.findall(r"\{\{\s*(.*?)\s*\}\}", block.source))


def test_self_attention_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("self-attention", language)
        questions = [block for step in found.steps for block in step.blocks if isinstance(block, Quiz)]
        assert sorted(question.id for question in questions) == [f"Q08-{number}" for number in range(1, 7)]
        assert {lab.name for lab in found.labs} == {"sdpa", "sqrt-dk", "shuffle"}
        assert {lab.params["mode"] for lab in found.labs if lab.name == "sdpa"} == {"cafe", "hand-case", "own-sentence"}
        predicted = {step.lab.name for step in found.steps if step.predictions and step.lab}
        assert predicted == {"sdpa", "sqrt-dk", "shuffle"}
        assert len(list(assertions(found))) >= 15


def test_the_attention_in_six_lines_is_torchs_and_the_same_in_both_languages() -> None:
    snippets = code("self-attention", "en")
    assert snippets == code("self-attention", "zh")
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(2, 5, 7, generator=generator, dtype=torch.float64)
    W_q, W_k = torch.randn(2, 3, 7, generator=generator, dtype=torch.float64)
    W_v = torch.randn(4, 7, generator=generator, dtype=torch.float64)
    scope: dict[str, Any] = {"torch": torch, "X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}
    for snippet in snippets:
        exec(snippet, scope)
    expected = F.scaled_dot_product_attention(X @ W_q.T, X @ W_k.T, X @ W_v.T)
    assert torch.allclose(scope["out"], expected, atol=1e-12, rtol=0)
    assert scope["weights"].shape == (2, 5, 5)
    assert torch.allclose(scope["weights"].sum(-1), torch.ones(2, 5, dtype=torch.float64), atol=1e-12)


def answer_of(id: str, slug: str = "self-attention") -> object:
    answers = {
        block.answer
        for language in LANGUAGES
        for step in lesson(slug, language).steps
        for block in step.blocks
        if isinstance(block, (Quiz, Predict)) and block.id == id
    }
    assert len(answers) == 1
    return answers.pop()


def test_q08_3_is_the_shape_torch_computes() -> None:
    q, k, v = torch.zeros(2, 3, 8), torch.zeros(2, 5, 8), torch.zeros(2, 5, 6)
    shapes = (*(q @ k.transpose(-2, -1)).shape, *F.scaled_dot_product_attention(q, k, v).shape)
    assert answer_of("Q08-3") == tuple(str(size) for size in shapes)


def test_q08_4_is_the_softmax_of_its_scores() -> None:
    assert answer_of("Q08-4") == pytest.approx(torch.tensor([0, 0, math.log(2)]).softmax(0)[2].item(), abs=1e-6)


def test_e_to_the_89_overflows_in_32_bits_and_e_to_the_88_does_not() -> None:
    assert torch.isinf(torch.tensor(89.0).exp())
    assert torch.isfinite(torch.tensor(88.0).exp())


def test_with_mean_one_the_variance_of_a_dot_product_is_three_times_the_width() -> None:
    """The values 0 and 2, equally likely, have mean 1 and variance 1: all their dot products of width 4, exactly."""
    vectors = torch.cartesian_prod(*[torch.tensor([0.0, 2.0])] * 4)  # (16, 4)
    assert (vectors.mean().item(), vectors.var(correction=0).item()) == (1.0, 1.0)
    assert (vectors @ vectors.T).var(correction=0).item() == pytest.approx(3 * 4, abs=1e-6)


def test_the_softmax_jacobian_has_a_norm_below_one_whatever_the_scores() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(4000, 3, generator=generator, dtype=torch.float64) * torch.tensor([0.1, 1.0, 30.0]).repeat(
        4000, 1
    ).gather(1, torch.randint(0, 3, (4000, 1), generator=generator))
    p = scores.softmax(-1)
    jacobian = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    trace = 1 - p.square().sum(-1)
    norms = jacobian.norm(dim=(-2, -1))
    assert bool((norms <= trace + 1e-12).all()), "a positive semidefinite matrix has a norm of at most its trace"
    assert norms.max().item() < 1


@pytest.mark.parametrize("row", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_a_sure_winner_lets_no_gradient_through(row: tuple[float, ...]) -> None:
    p = torch.tensor(row)
    assert torch.equal(torch.diag(p) - torch.outer(p, p), torch.zeros(3, 3))


def test_without_a_mask_the_derivative_with_respect_to_a_value_is_the_weight_whatever_the_distance() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 6, 4, generator=generator, dtype=torch.float64)
    weights = (query @ key.T / 2).softmax(-1)
    jacobian = torch.func.jacrev(lambda v: F.scaled_dot_product_attention(query, key, v))(value)
    expected = torch.einsum("ij,ab->iajb", weights, torch.eye(4, dtype=torch.float64))
    assert torch.allclose(jacobian, expected, atol=1e-12)


def test_multi_head_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("multi-head", language)
        questions = [block for step in found.steps for block in step.blocks if isinstance(block, Quiz)]
        assert sorted(question.id for question in questions) == [f"Q09-{number}" for number in range(1, 7)]
        assert {lab.params["panel"] for lab in found.labs} == {"maps", "scope", "rank", "twin"}


def test_the_code_of_the_multi_head_lesson_does_what_it_says() -> None:
    snippets = code("multi-head", "en")
    assert snippets == code("multi-head", "zh")
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 5, 8, generator=generator, dtype=torch.float64)
    weights = (query @ key.transpose(-2, -1)).softmax(-1)
    scope: dict[str, Any] = {"torch": torch, "query": query, "key": key, "value": value, "weights": weights}
    for snippet in snippets:
        exec(snippet, scope)
    x = torch.randn(2, 5, 12, generator=generator)
    heads = scope["split_heads"](x, 3)
    assert all(torch.equal(heads[:, i], x[:, :, 4 * i : 4 * i + 4]) for i in range(3))
    assert not torch.equal(heads, x.view(2, 3, 5, 4)), "a direct view mixes words"
    assert scope["silent"].shape == (1, 4, 3, 1), "three words became four"
    assert torch.allclose(scope["scores"], query @ key.transpose(-2, -1), atol=1e-12)
    assert torch.allclose(scope["mixed"], weights @ value, atol=1e-12)


def test_two_words_of_width_four_cannot_be_cut_into_three_heads() -> None:
    with pytest.raises(RuntimeError):
        torch.arange(8.0).view(1, -1, 3, 4 // 3)


def test_26_of_the_64_combinations_of_width_and_heads_do_not_divide() -> None:
    assert sum(width % heads != 0 for width in range(64, 513, 64) for heads in range(1, 9)) == 26


def test_exchanging_two_slices_exchanges_two_maps_when_the_projection_is_shared() -> None:
    generator = torch.Generator().manual_seed(0)
    layer = SharedSliceAttention(8, 2, generator=generator, dtype=torch.float64)
    x = torch.randn(5, 8, generator=generator, dtype=torch.float64)
    exchanged = torch.cat((x[:, 4:], x[:, :4]), dim=-1)
    one, other = (layer(inputs)[1].weights for inputs in (x, exchanged))
    assert torch.equal(one, other.flip(0))
    assert not torch.equal(one[0], one[1])


def test_untrained_maps_reach_nine_tenths_of_the_entropy_there_is(
    reports: Runs,
) -> None:
    for language in LANGUAGES:
        values = reports["multi-head", language]["fresh"].values
        mean, most = values["entropy_mean"], values["uniform_entropy"]
        assert isinstance(mean, float)
        assert isinstance(most, float)
        assert 0.9 < mean / most < 1


def test_the_numbers_of_the_multi_head_quiz_are_those_of_torch() -> None:
    layer = torch.nn.MultiheadAttention(64, 8, bias=False)
    assert answer_of("Q09-2", "multi-head") == sum(weight.numel() for weight in layer.parameters())
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 32, 64 // 16, generator=generator, dtype=torch.float64)
    assert answer_of("Q09-6", "multi-head") == torch.linalg.matrix_rank(query @ key.T).item()
    heads = torch.zeros(2, 5, 32).view(2, 5, 4, 8).transpose(1, 2)
    shapes = (*heads.shape, *(heads @ heads.transpose(-2, -1)).shape)
    assert answer_of("Q09-1", "multi-head") == tuple(str(size) for size in shapes)

"""Formulas in two dimensions look as a textbook sets them: pictures typed by hand."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tutor.text.formula import FormulaError, display

PICTURES = {
    r"\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V": """
                                ⎛ QKᵀ ⎞
    Attention(Q, K, V) = softmax⎜ ─── ⎟ V
                                ⎜  __ ⎟
                                ⎝ √dₖ ⎠
    """,
    r"\operatorname{softmax}(z)_i = \frac{e^{z_i}}{\sum_{j=1}^{n} e^{z_j}}": """
                      zᵢ
                     e
    softmax(z)ᵢ = ─────────
                         zⱼ
                  ∑ⱼ₌₁ⁿ e
    """,
    r"\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d_k} \operatorname{Var}(q_i k_i) = d_k": """
                 dₖ
    Var(q · k) =  ∑  Var(qᵢ kᵢ) = dₖ
                 i=1
    """,
    r"Q = XW_Q^\top, \quad K = XW_K^\top": """
    Q = XWᵀ,   K = XWᵀ
          Q          K
    """,
    r"\text{MHA}(X) = [\text{head}_1; \dots; \text{head}_A]\,W_O^\top": """
    MHA(X) = [head₁; …; head ] Wᵀ
                            A   O
    """,
    r"h_t = \tanh(W_{hh} h_{t-1} + W_{xh} x_t + b_h)": """
    hₜ = tanh(Wₕₕ hₜ₋₁ + Wₓₕ xₜ + bₕ)
    """,
    r"\left\| \frac{\partial h_t}{\partial h_k} \right\|_2 \le \sigma_1(W)^{T-k}": """
    ║ ∂hₜ ║         T−k
    ║ ─── ║  ≤ σ₁(W)
    ║ ∂hₖ ║₂
    """,
    r"R_k = \begin{bmatrix} \cos k\omega & \sin k\omega \\ -\sin k\omega & \cos k\omega \end{bmatrix}": """
         ⎡ cos kω   sin kω ⎤
    Rₖ = ⎢                 ⎥
         ⎣ −sin kω  cos kω ⎦
    """,
    r"M_{ij} = \begin{cases} 0 & \text{若 } j \le i \\ -\infty & \text{否则} \end{cases}": """
          ⎧ 0    若 j ≤ i
    Mᵢⱼ = ⎨
          ⎩ −∞   否则
    """,
    r"\underbrace{(B,T,d)}_{\text{输入}} \to (B,A,T,d_k)": """
    (B, T, d) → (B, A, T, dₖ)
    ╰───┬───╯
      输入
    """,
    r"\begin{aligned} y_1 &= x_1 + F(x_2) \\ y_2 &= x_2 + G(y_1) \end{aligned}": """
    y₁ = x₁ + F(x₂)
    y₂ = x₂ + G(y₁)
    """,
    r"\text{RMS}(x) = \sqrt{\frac{1}{d} \sum_{i=1}^d x_i^2 + \varepsilon}": """
                 ______________
                ╱ 1  d
    RMS(x) =   ╱  ─  ∑  xᵢ² + ε
             ╲╱   d i=1
    """,
    r"\theta \leftarrow \theta - \eta \frac{\hat m}{\sqrt{\hat v} + \varepsilon}": """
                m̂
    θ ← θ − η ──────
               _
              √v̂ + ε
    """,
    r"\sqrt[3]{\frac{x}{y}} + \overline{x+y} + \widehat{xyz}": """
        __
       ╱ x   _____    ^
    ³ ╱  ─ + x + y + xyz
    ╲╱   y
    """,
    r"\operatorname*{argmax}_{w \in V} p(w \mid y_{<t})": """
    argmax p(w | y  )
     w∈V          <t
    """,
    r"\frac{1}{\frac{1}{x}} + W^T": """
     1     T
    ─── + W
     1
     ─
     x
    """,
}


@pytest.mark.parametrize("tex", PICTURES)
def test_display_draws_the_textbook_picture(tex: str) -> None:
    picture = dedent(PICTURES[tex]).strip("\n").rstrip().split("\n")
    assert display(tex) == picture


def test_a_formula_that_is_too_wide_breaks_before_relations_and_keeps_them_in_one_column() -> None:
    tex = r"\ln p = aaaaaaaaaaaa + bbbbbbbbbbbb = cccccccccccccc + dddddddd \le eeee"
    assert display(tex, 34) == [
        "ln p = aaaaaaaaaaaa + bbbbbbbbbbbb",
        "     = cccccccccccccc + dddddddd",
        "     ≤ eeee",
    ]


def test_one_side_that_is_too_wide_breaks_before_plus_and_minus_behind_its_relation() -> None:
    tex = r"x = aaaaaaaaaa + bbbbbbbbbb - cccccccccc + d"
    assert display(tex, 30) == ["x = aaaaaaaaaa + bbbbbbbbbb", "    − cccccccccc + d"]


def test_formulas_parted_by_quad_get_a_line_each_with_room_for_their_scripts() -> None:
    assert display(r"W_f x = y, \quad a = b", 12) == ["W  x = y,", " f", "", "a = b"]


def test_long_arguments_break_after_commas_when_nothing_else_helps() -> None:
    assert display(r"f(aaaaaaaaaa, bbbbbbbbbb, cc)", 20) == ["f(aaaaaaaaaa,", "  bbbbbbbbbb, cc)"]


def test_a_formula_that_cannot_be_broken_says_how_wide_it_is_and_how_wide_it_may_be() -> None:
    with pytest.raises(FormulaError, match="needs 20 cells, but only 10 are there") as caught:
        display("a" * 20, 10)
    assert caught.value.message.values == {"needed": 20, "width": 10}


def test_display_gives_every_caller_a_list_of_its_own() -> None:
    display("x").append("spoiled")
    assert display("x") == ["x"]

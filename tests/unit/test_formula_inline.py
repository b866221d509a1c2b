"""Formulas in running text: one line that says the same as the TeX."""

from __future__ import annotations

import pytest

from tutor.text.formula import inline

LINES = {
    r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V": "softmax(QKᵀ/√dₖ)V",
    r"h_{t-1}": "hₜ₋₁",
    r"d_{\text{model}}": "d_model",
    r"PE_{(pos,2i)}": "PE_(pos,2i)",
    r"W_Q^\top": "W_Qᵀ",
    r"W^T": "W^T",
    r"W^{T-k}": "W^(T−k)",
    r"y_{<t}": "y_<t",
    r"d_{ff}x": "d_ff x",
    r"e^{z_i}": "e^zᵢ",
    r"2^{2^x}": "2^(2ˣ)",
    r"(a,b)^*": "(a, b)*",
    r"h'_t": "h′ₜ",
    r"\frac{1}{2} x": "½ x",
    r"\frac{a+b}{c}": "(a + b)/c",
    r"\frac{a}{bc}": "a/(bc)",
    r"\frac{a}{b} c": "(a/b) c",
    r"a \cdot \frac{b}{c}": "a · b/c",
    r"\frac{\partial \mathcal{L}}{\partial W}": "∂ℒ/∂W",
    r"\frac{\frac{a}{b}}{c}": "(a/b)/c",
    r"\frac{\sin x}{x}": "(sin x)/x",
    r"\ln\frac{a}{b}": "ln(a/b)",
    r"\frac{\exp(z_i)}{\sum_j \exp(z_j)}": "exp(zᵢ)/(∑ⱼ exp(zⱼ))",
    r"\sqrt{x}": "√x",
    r"\sqrt{x+1}": "√(x + 1)",
    r"\hat y_t": "ŷₜ",
    r"\widehat{ab}": "hat(ab)",
    r"\overline{AB}": "A̅B̅",
    r"\sum_{i=1}^{n} x_i": "∑ᵢ₌₁ⁿ xᵢ",
    r"\sum_{t=1}^{T} x_t": "∑ₜ₌₁^T xₜ",
    r"-x = - 1 - -y": "−x = −1 − −y",
    r"\|x\|_2 \le |x|": "‖x‖₂ ≤ |x|",
    r"p(x \mid y)": "p(x | y)",
    r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}": "[1, 0; 0, 1]",
    r"\begin{cases} x & x > 0 \\ 0 & x \le 0 \end{cases}": "{x, x > 0; 0, x ≤ 0}",
    r"x \in \mathbb{R}^{d}": "x ∈ ℝᵈ",
    r"\mathcal{N}(0, I)": "N(0, I)",
    r"\text{长度 } n": "长度 n",
    r"\text{掩码}_i": "掩码ᵢ",
    r"1{,}000": "1,000",
    r"‖x−y‖ ≤ |a|×2": "‖x − y‖ ≤ |a| × 2",
    "a\\\nb": "a b",
}


@pytest.mark.parametrize("tex", LINES)
def test_inline_says_it_in_one_line(tex: str) -> None:
    assert inline(tex) == LINES[tex]


def test_a_symbol_typed_as_itself_is_spaced_like_its_macro() -> None:
    assert inline("a⊙b≤c") == inline(r"a \odot b \le c") == "a ⊙ b ≤ c"

"""What each TeX name looks like in a terminal: tables, nothing else.

Only glyphs of the Basic Multilingual Plane that common monospaced fonts carry (checked against DejaVu Sans Mono) are
used. Therefore bold letters stay plain, and so do the calligraphic and blackboard letters that Unicode keeps beyond
that plane (𝒩, 𝔼, 𝟙): a plain letter reads better than a missing-glyph box. A superscript capital has no glyph here
either: `W^T` shows a raised T, and only `\\top` gives ᵀ, so that a power T is never mistaken for a transpose.
"""

from __future__ import annotations

from typing import Literal

# TeX's classes of atoms (The TeXbook, chapter 17); "bar" is a delimiter whose side is not known yet.
Kind = Literal["ord", "op", "bin", "rel", "open", "close", "punct", "inner", "bar"]


def _table(pairs: str) -> dict[str, str]:
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


ORDINARY = _table(
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ "
    "mu μ nu ν xi ξ pi π rho ρ varrho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ "
    "Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω partial ∂ nabla ∇ infty ∞ ell ℓ hbar ħ "
    "imath ı jmath ȷ prime ′ circ ∘ degree ° top ⊤ bot ⊥ forall ∀ exists ∃ emptyset ∅ varnothing ∅ neg ¬ lnot ¬ "
    "vdots ⋮ ddots ⋱ bullet • checkmark ✓ dagger † ddagger ‡ star ⋆ "
    "aleph ℵ Re Re Im Im % % # # $ $ & & _ _ backslash \\ slash / square □ blacksquare ■ dag † P ¶ S § "
    "lbrack [ rbrack ] colon :"
)
INNER = _table("ldots … dots … dotsc … dotsb ⋯ cdots ⋯")
BINARY = _table(
    "cdot · times × div ÷ pm ± mp ∓ odot ⊙ oplus ⊕ otimes ⊗ ominus ⊖ ast * cup ∪ cap ∩ wedge ∧ land ∧ vee ∨ lor ∨ "
    "setminus \\ bmod mod"
)
RELATION = _table(
    "le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > approx ≈ equiv ≡ sim ~ simeq ≃ cong ≅ "
    "propto ∝ in ∈ ni ∋ notin ∉ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ ll ≪ gg ≫ to → rightarrow → gets ← "
    "leftarrow ← longrightarrow ⟶ leftrightarrow ↔ Rightarrow ⇒ implies ⇒ Leftarrow ⇐ Leftrightarrow ⇔ iff ⇔ "
    "mapsto ↦ uparrow ↑ downarrow ↓ mid | perp ⊥ parallel ‖ coloneqq := doteq ≐ triangleq ≜ prec ≺ succ ≻ vdash ⊢"
)
OPENING = _table("{ { lbrace { langle ⟨ lfloor ⌊ lceil ⌈ lvert | lVert ‖")
CLOSING = _table("} } rbrace } rangle ⟩ rfloor ⌋ rceil ⌉ rvert | rVert ‖")
BARS = _table("| ‖ Vert ‖ vert |")
# Operators whose limits stand above and below in a display.
LIMIT_OPERATORS = _table(
    "sum ∑ prod ∏ bigcup ⋃ bigcap ⋂ bigoplus ⊕ bigodot ⊙ max max min min sup sup inf inf lim lim limsup limsup "
    "liminf liminf argmax argmax argmin argmin det det gcd gcd Pr Pr"
)
OPERATORS = _table(
    "int ∫ oint ∮ exp exp log log ln ln lg lg sin sin cos cos tan tan cot cot sinh sinh cosh cosh tanh tanh coth coth "
    "arcsin arcsin arccos arccos arctan arctan arg arg dim dim ker ker deg deg hom hom"
)
CHARACTERS: dict[str, tuple[str, Kind]] = {
    "-": ("−", "bin"),
    "+": ("+", "bin"),
    "*": ("*", "bin"),
    "=": ("=", "rel"),
    "<": ("<", "rel"),
    ">": (">", "rel"),
    ":": (":", "rel"),
    ",": (",", "punct"),
    ";": (";", "punct"),
    "，": ("，", "punct"),
    "；": ("；", "punct"),
    "(": ("(", "open"),
    "[": ("[", "open"),
    ")": (")", "close"),
    "]": ("]", "close"),
    "!": ("!", "close"),
    "|": ("|", "bar"),
    "‖": ("‖", "bar"),
    "∥": ("‖", "bar"),
    "−": ("−", "bin"),
}

SPACES = {",": 1, ":": 1, ";": 1, ">": 1, " ": 1, "!": 0, "enspace": 1, "quad": 3, "qquad": 6, "thinspace": 1}
# They choose a style or a size, which the layout chooses by itself.
IGNORED = frozenset(
    ("displaystyle", "textstyle", "scriptstyle", "nonumber", "notag", "mathstrut", "strut", "allowbreak")
)
SIZES = frozenset(f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m"))
FRACTIONS = frozenset(("frac", "dfrac", "tfrac", "cfrac"))
_CALLIGRAPHIC = dict(zip("LBEFHIMR", "ℒℬℰℱℋℐℳℛ", strict=True))
ALPHABETS = {
    "mathbb": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "mathcal": _CALLIGRAPHIC,
    "mathscr": _CALLIGRAPHIC,
}
PLAIN_ALPHABETS = frozenset(
    ("mathbf", "boldsymbol", "bm", "symbf", "mathit", "mathrm", "mathsf", "mathtt", "mathnormal", "mathfrak")
)
TEXT = frozenset(("text", "textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "mbox"))

# name → (combining mark, glyph above a wide box, name in one line)
ACCENTS = {
    "hat": ("\u0302", "^", "hat"),
    "widehat": ("\u0302", "^", "hat"),
    "tilde": ("\u0303", "~", "tilde"),
    "widetilde": ("\u0303", "~", "tilde"),
    "bar": ("\u0304", "_", "bar"),
    "overline": ("\u0304", "_", "overline"),
    "dot": ("\u0307", ".", "dot"),
    "ddot": ("\u0308", "..", "ddot"),
    "check": ("\u030c", "ˇ", "check"),
    "breve": ("\u0306", "˘", "breve"),
    "vec": ("\u20d7", "→", "vec"),
    "overrightarrow": ("\u20d7", "→", "vec"),
    "overleftarrow": ("\u20d6", "←", "vec"),
}

# macro → its arguments, as pylatexenc writes them: { mandatory, [ optional, * a star.
ARGUMENTS = (
    dict.fromkeys((*PLAIN_ALPHABETS, *ALPHABETS, *TEXT, *ACCENTS), "{")
    | dict.fromkeys(("underline", "underbrace", "overbrace", "substack", "xrightarrow"), "{")
    | dict.fromkeys((*FRACTIONS, "binom", "overset", "underset", "stackrel"), "{{")
    | {"sqrt": "[{", "operatorname": "*{"}
)

SUPERSCRIPTS = dict(
    zip(
        "0123456789+−=()abcdefghijklmnoprstuvwxyz⊤′*∘†",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ′*°†",
        strict=True,
    )
)
SUBSCRIPTS = dict(zip("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))

# Growing delimiters: top, filler, bottom and, for braces, the middle.
PIECES = {
    "(": "⎛⎜⎝",
    ")": "⎞⎟⎠",
    "[": "⎡⎢⎣",
    "]": "⎤⎥⎦",
    "⌊": "⎢⎢⎣",
    "⌋": "⎥⎥⎦",
    "⌈": "⎡⎢⎢",
    "⌉": "⎤⎥⎥",
    "|": "│││",
    "‖": "║║║",
    "{": "⎧⎪⎩⎨",
    "}": "⎫⎪⎭⎬",
}
DELIMITERS = frozenset("()[]{}|‖⟨⟩⌊⌋⌈⌉/")

# environment → (left delimiter, right delimiter, alignment of the columns: one letter each, repeated)
GRIDS = {
    "matrix": ("", "", "c"),
    "smallmatrix": ("", "", "c"),
    "pmatrix": ("(", ")", "c"),
    "bmatrix": ("[", "]", "c"),
    "Bmatrix": ("{", "}", "c"),
    "vmatrix": ("|", "|", "c"),
    "Vmatrix": ("‖", "‖", "c"),
    "cases": ("{", "", "l"),
    "array": ("", "", "c"),
    "aligned": ("", "", "rl"),
    "align": ("", "", "rl"),
    "align*": ("", "", "rl"),
    "split": ("", "", "rl"),
    "gathered": ("", "", "c"),
    "gather": ("", "", "c"),
    "gather*": ("", "", "c"),
}

GLYPHS: dict[str, tuple[str, Kind]] = {}
for _kind, _names in (
    ("ord", ORDINARY),
    ("inner", INNER),
    ("bin", BINARY),
    ("rel", RELATION),
    ("open", OPENING),
    ("close", CLOSING),
    ("bar", BARS),
):
    GLYPHS.update({name: (glyph, _kind) for name, glyph in _names.items()})  # type: ignore[misc]
# A symbol typed as itself (≤, ×, ∈) behaves like its name; letters and signs that serve twice are settled above.
for _glyph, _kind in list(GLYPHS.values()):
    if len(_glyph) == 1 and not _glyph.isascii():
        CHARACTERS.setdefault(_glyph, (_glyph, _kind))
for _names in (LIMIT_OPERATORS, OPERATORS):
    for _glyph in _names.values():
        if len(_glyph) == 1:
            CHARACTERS.setdefault(_glyph, (_glyph, "op"))

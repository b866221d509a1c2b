"""Answers as people type them: 0.4, .4, 2/5, 40 %, ４０％, 1e-5, 3×10^-5, (2, 3, 5), （2，3，5）."""

from __future__ import annotations

import math
import re
import unicodedata

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_ROUGHLY = re.compile(r"^(?:≈|~|=|约|大约|about)\s*")
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?"
_PLAIN = re.compile(rf"({_NUMBER})\s*(%?)\Z")
_FRACTION = re.compile(rf"({_NUMBER})\s*/\s*({_NUMBER})\Z")
_POWER = re.compile(r"(?:([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*[*×x]\s*)?10\s*\^\s*\(?\s*([+-]?\d{1,3})\s*\)?\Z")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?\Z")
_BLANK = re.compile(r"\d+|[A-Za-z]\w*")


def normalise(text: str) -> str:
    """Return `text` with full-width forms, minus signs and superscripts as a keyboard writes them, trimmed."""
    text = re.sub(r"(?<=10)[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text).replace("−", "-").replace("–", "-").replace("。", ".").replace("、", ",")
    return " ".join(text.split())


def read_number(text: str) -> float | None:
    """Return the number in `text`, or None when it holds none (or one that is not finite)."""
    if len(text) > 100:
        return None
    plain = _ROUGHLY.sub("", normalise(text).casefold())
    if _THOUSANDS.match(plain):
        plain = plain.replace(",", "")
    if found := _PLAIN.match(plain):
        value = float(found[1]) / (100 if found[2] else 1)
    elif found := _FRACTION.match(plain):
        if float(found[2]) == 0:
            return None
        value = float(found[1]) / float(found[2])
    elif found := _POWER.match(plain):
        value = float(found[1] or 1) * 10.0 ** int(found[2])
    else:
        return None
    return value if math.isfinite(value) else None


def read_shape(text: str) -> tuple[str, ...]:
    """Return the blanks of a shape, numbers or names: "(2, 3, 5), (B,T,d)" gives 2 3 5 B T d."""
    return tuple(_BLANK.findall(normalise(text[:200])))


def same_text(given: str, accepted: str) -> bool:
    """Tell whether two answers are the same words, whatever their case, width and final full stop."""
    return normalise(given).casefold().rstrip(".!") == normalise(accepted).casefold().rstrip(".!")

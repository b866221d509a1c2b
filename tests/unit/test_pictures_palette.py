"""Colours of data on every kind of terminal."""

from __future__ import annotations

import itertools

import pytest
from rich.color import Color, ColorSystem

from tests.unit.pictures_samples import TERMINALS
from tutor.pictures.palette import ABSENT, INFINITE, NAN, Scale, ink_on, luminance, palette
from tutor.terminal import Depth, Terminal

SCALES: list[Scale] = ["sequential", "diverging"]
DEPTHS = [Depth.TRUE, Depth.ANSI256]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("depth", DEPTHS)
def test_luminance_rises_with_every_level_so_that_a_greyscale_print_reads_the_same(scale: Scale, depth: Depth) -> None:
    colours = palette(scale, Terminal(depth)).colours
    assert colours is not None
    assert all(luminance(low) < luminance(high) for low, high in itertools.pairwise(colours))


def test_levels_are_at_most_32_and_in_256_colours_at_least_14() -> None:
    counts = {depth: palette("sequential", Terminal(depth)).count for depth in Depth}
    assert counts[Depth.TRUE] == 32
    assert counts[Depth.ANSI256] >= 14
    assert counts[Depth.ANSI16] == counts[Depth.NONE] == 4


@pytest.mark.parametrize("scale", SCALES)
def test_rich_turns_our_256_colour_triples_into_as_many_different_indices(scale: Scale) -> None:
    colours = palette(scale, Terminal(Depth.ANSI256)).colours
    assert colours is not None
    written = [Color.from_rgb(*colour).downgrade(ColorSystem.EIGHT_BIT) for colour in colours]
    assert len({colour.number for colour in written}) == len(colours)
    assert [tuple(colour.get_truecolor()) for colour in written] == list(colours)


@pytest.mark.parametrize("scale", SCALES)
def test_rich_keeps_our_16_colours_as_they_are(scale: Scale) -> None:
    colours = palette(scale, Terminal(Depth.ANSI16)).colours
    assert colours is not None
    for colour in colours:
        assert tuple(Color.from_rgb(*colour).downgrade(ColorSystem.STANDARD).get_truecolor()) != (0, 0, 0)
    written = {colour: Color.from_rgb(*colour).downgrade(ColorSystem.STANDARD).number for colour in set(colours)}
    assert len(set(written.values())) == len(written)


def test_a_diverging_scale_has_a_middle_and_shows_the_sign_without_colour() -> None:
    for terminal in TERMINALS:
        signed = palette("diverging", terminal)
        assert signed.count % 2 == 1
        if signed.shades:
            below, middle, above = (signed.text(level, 3) for level in (0, signed.count // 2, signed.count - 1))
            assert below[0] == "-"
            assert above[0] == "+"
            assert middle[0] in "·."
            singles = [signed.text(level, 1) for level in range(signed.count)]
            assert len(set(singles)) == signed.count


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("scale", SCALES)
def test_every_level_fills_exactly_its_cell(terminal: Terminal, scale: Scale) -> None:
    colours = palette(scale, terminal)
    for level in (*range(colours.count), NAN, INFINITE, ABSENT):
        for width in range(1, 9):
            text = colours.text(level, width)
            assert len(text) == width
            assert terminal.unicode or text.isascii()


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("scale", SCALES)
def test_every_level_looks_different_and_none_like_a_value_that_is_not_finite(terminal: Terminal, scale: Scale) -> None:
    colours = palette(scale, terminal)
    levels = [*range(colours.count), NAN, INFINITE]
    assert len({colours.cell(level, 2) for level in levels}) == len(levels)


def test_ink_on_any_level_has_the_contrast_of_large_text() -> None:
    for scale in SCALES:
        for background in palette(scale, Terminal()).colours or ():
            light, dark = sorted((luminance(ink_on(background)), luminance(background)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5

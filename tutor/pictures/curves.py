"""Curves as styled lines: plotext draws them at the exact size; title, legend, axis names and ticks are ours."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.contract.message import say
from engine.contract.report import Curves
from tutor.pictures import plotext_adapter
from tutor.pictures.axes import linear_axis, log_axis
from tutor.pictures.ink import MUTED, Colour, Line, Look, Span, Translate
from tutor.pictures.rule import title_rule
from tutor.terminal import Depth, Terminal
from tutor.text.width import cells, clean, cut

# Told apart without colour: each curve carries a few letters of its own.
_MARKS = "o+x*#@%&"
_COLOURS: tuple[Colour, ...] = (
    (95, 175, 255),
    (255, 135, 95),
    (95, 215, 135),
    (215, 135, 255),
    (215, 175, 0),
    (0, 215, 215),
    (255, 95, 175),
    (175, 175, 175),
)
_ANSI_COLOURS: tuple[Colour, ...] = (
    (85, 85, 255),
    (255, 85, 85),
    (85, 255, 85),
    (255, 85, 255),
    (170, 85, 0),
    (0, 170, 170),
    (170, 0, 170),
    (170, 170, 170),
)
_MARKS_PER_CURVE = 6

Point = tuple[float, float]


@dataclass(frozen=True)
class Trace:
    """A curve ready to draw: unbroken runs of finite points, in the coordinates of the axes."""

    name: str
    runs: list[list[Point]]
    dropped: int
    mark: str
    colour: Colour

    @property
    def points(self) -> list[Point]:
        """All its points."""
        return [point for run in self.runs for point in run]


def draw_curves(panel: Curves, width: int, height: int | None, translate: Translate, terminal: Terminal) -> list[Line]:
    """Draw curves in at most `width` columns and `height` lines (None: a quarter of the width).

    Points that are not finite, or not positive on a logarithmic axis, leave gaps, and a line says how many.
    """
    traces = _traces(panel, translate, terminal)
    rule = title_rule(translate(panel.title), width, terminal.unicode)
    heads = [rule, *_legend(traces, width, terminal.unicode)]
    y_label = clean(translate(panel.y_label))
    if [trace.name for trace in traces] != [y_label]:
        heads.append([Span(cut(y_label, width), MUTED)])
    tails = [_x_label(panel, width, translate, terminal.unicode), *_gaps(panel, traces, width, translate)]
    points = [point for trace in traces for point in trace.points]
    if not points:
        return [rule, [Span(cut(translate(say("no finite value to draw")), width), MUTED)]]
    wanted = max(8, min(16, width // 4)) if height is None else height - len(heads) - len(tails)
    drawn = _plot(panel, traces, points, max(16, width), max(5, wanted), terminal)
    return [_recoloured(line, terminal) for line in heads + drawn + tails]


def _traces(panel: Curves, translate: Translate, terminal: Terminal) -> list[Trace]:
    colours = _ANSI_COLOURS if terminal.depth == Depth.ANSI16 else _COLOURS
    xs = [_scaled(float(x), panel.log_x) for x in panel.x.flat()]
    traces = []
    for index, series in enumerate(panel.series):
        ys = [_scaled(float(y), panel.log_y) for y in series.y.flat()]
        runs: list[list[Point]] = [[]]
        for x, y in zip(xs, ys, strict=True):
            if x is None or y is None:
                runs.append([])
            else:
                runs[-1].append((x, y))
        kept = [run for run in runs if run]
        dropped = len(xs) - sum(map(len, kept))
        mark, colour = _MARKS[index % len(_MARKS)], colours[index % len(colours)]
        traces.append(Trace(clean(translate(series.name)), kept, dropped, mark, colour))
    return traces


def _scaled(value: float, logarithmic: bool) -> float | None:
    """Return a value in the coordinate of its axis; None when it has no place there."""
    if not math.isfinite(value) or (logarithmic and value <= 0):
        return None
    return math.log10(value) if logarithmic else value


def _plot(
    panel: Curves, traces: list[Trace], points: list[Point], width: int, height: int, terminal: Terminal
) -> list[Line]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    x_axis = (log_axis if panel.log_x else linear_axis)(min(xs), max(xs), max(2, width // 12))
    y_axis = (log_axis if panel.log_y else linear_axis)(min(ys), max(ys), max(2, height // 3))
    line = "braille" if terminal.unicode else "."
    curves: list[plotext_adapter.Curve] = []
    for trace in traces:
        for run in trace.runs:
            thin = _thinned(run, 2 * width)
            curves.append(([x for x, _ in thin], [y for _, y in thin], line, trace.colour))
    if len(traces) > 1:
        for index, trace in enumerate(traces):
            curves += [([x], [y], trace.mark, trace.colour) for x, y in _marked(trace.points, index, len(traces))]
    return plotext_adapter.line_plot(curves, width, height, x_axis, y_axis)


def _thinned(run: list[Point], most: int) -> list[Point]:
    """Return a run with at most about `2 · most` points: the lowest and the highest of every stretch."""
    if len(run) <= 2 * most:
        return run
    size = math.ceil(len(run) / most)
    thin: list[Point] = []
    for start in range(0, len(run), size):
        stretch = run[start : start + size]
        thin += sorted({min(stretch, key=lambda point: point[1]), max(stretch, key=lambda point: point[1])})
    return thin


def _marked(points: list[Point], index: int, count: int) -> list[Point]:
    """Return the points that bear the mark of a curve, at places no other curve uses."""
    if len(points) <= _MARKS_PER_CURVE:
        return points
    stride = len(points) / _MARKS_PER_CURVE
    return [points[int((step + index / count) * stride)] for step in range(_MARKS_PER_CURVE)]


def _recoloured(spans: Line, terminal: Terminal) -> Line:
    """Return a line without colours where there are none, and with an ASCII frame where there is no other."""
    if terminal.depth == Depth.NONE:
        spans = [Span(text, Look(role=look.role)) for text, look in spans]
    if not terminal.unicode:
        frame = str.maketrans("│┤├─┬┴└┘┌┐┼", "|||-+++++++")
        spans = [Span(text.translate(frame), look) for text, look in spans]
    return spans


def _legend(traces: list[Trace], width: int, unicode: bool) -> list[Line]:
    """Return the names of the curves after their marks, on as many lines as they need; one alone has no mark."""
    if len(traces) == 1:
        stroke = Span("⠒⠒ " if unicode else ".. ", Look(traces[0].colour, role="strong"))
        return [[stroke, Span(cut(traces[0].name, width - 3))]]
    lines: list[Line] = [[]]
    used = 0
    for trace in traces:
        name = cut(trace.name, width - 4)
        if used and used + cells(name) + 5 > width:
            lines.append([])
            used = 0
        lines[-1] += [Span(trace.mark + " ", Look(trace.colour, role="strong")), Span(name + "   ")]
        used += cells(name) + 5
    return lines


def _x_label(panel: Curves, width: int, translate: Translate, unicode: bool) -> Line:
    label = cut(f"{translate(panel.x_label)} {'→' if unicode else '->'}", width)
    return [Span(" " * (width - cells(label)) + label, MUTED)]


def _gaps(panel: Curves, traces: list[Trace], width: int, translate: Translate) -> list[Line]:
    dropped = sum(trace.dropped for trace in traces)
    if not dropped:
        return []
    logarithmic = panel.log_x or panel.log_y
    what = (
        say("{n} points are not finite or not positive and leave gaps", n=dropped)
        if logarithmic
        else say("{n} points are not finite and leave gaps", n=dropped)
    )
    return [[Span(cut(translate(what), width), MUTED)]]

"""A report as HTML that needs nothing else: what a notebook shows for `labs.run("jacobian")`.

Every text is escaped: tokens and labels are the learner's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from engine.contract.message import Message
from engine.contract.report import Bars, Cell, Curves, Heatmap, Invariant, Note, Panel, Report, Table
from engine.contract.svg import bars_svg, curves_svg, heatmap_svg, number_text

Translate = Callable[[Message], str]

_STYLE = (
    "<style>.tutor-report{font-family:sans-serif;font-size:13px}"
    ".tutor-report h3{font-size:15px;margin:.2em 0}.tutor-report h4{font-size:13px;margin:1em 0 .3em}"
    ".tutor-report table{border-collapse:collapse}.tutor-report td,.tutor-report th"
    "{padding:2px 8px;border-bottom:1px solid rgba(128,128,128,.3)}"
    ".tutor-report .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".tutor-report ul{list-style:none;padding-left:0}.tutor-report small{opacity:.7}</style>"
)
_MARKS = {True: "✓", False: "✗", None: "–"}


def report_html(report: Report, translate: Translate = str) -> str:
    """Return a report as one element: title, figures, what was checked, where it ran."""
    body = "".join(_body(report, translate))
    return f'<div class="tutor-report">{_STYLE}{body}</div>'


def _body(report: Report, translate: Translate) -> Iterator[str]:
    if report.lab:
        from engine.contract.labs import declaration

        title = translate(declaration(report.lab).title)
        yield f"<h3>{escape(report.lab)} · {escape(title)}</h3>"
        if chosen := ", ".join(f"{name} = {value}" for name, value in report.params.items()):
            yield f"<small>{escape(chosen)}</small>"
    for panel in report.panels:
        yield _panel(panel, translate)
    if report.invariants:
        lines = "".join(f"<li>{_invariant(invariant, translate)}</li>" for invariant in report.invariants)
        yield f"<ul>{lines}</ul>"
    yield f"<small>{escape(report.device)} · seed {report.seed} · {report.seconds:.2f} s</small>"


def _panel(panel: Panel, translate: Translate) -> str:
    if isinstance(panel, Note):
        return f"<p>{escape(translate(panel.text))}</p>"
    drawn = ""
    if isinstance(panel, Heatmap):
        drawn = heatmap_svg(panel, translate)
    elif isinstance(panel, Curves):
        drawn = curves_svg(panel, translate)
    elif isinstance(panel, Bars):
        drawn = bars_svg(panel, translate)
    elif isinstance(panel, Table):
        drawn = _table(panel, translate)
    return f"<h4>{escape(translate(panel.title))}</h4>{drawn}"


def _table(panel: Table, translate: Translate) -> str:
    head = "".join(f"<th>{escape(translate(column.title))}</th>" for column in panel.columns)
    rows = "".join(
        "<tr>"
        + "".join(_cell(cell, column.format, translate) for cell, column in zip(row, panel.columns, strict=True))
        + "</tr>"
        for row in panel.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: Cell, spec: str, translate: Translate) -> str:
    if isinstance(cell, bool):
        return f"<td>{_MARKS[cell]}</td>"
    if isinstance(cell, int | float):
        return f'<td class="n">{number_text(cell, spec or (",d" if isinstance(cell, int) else ".4g"))}</td>'
    if isinstance(cell, Message):
        return f"<td>{escape(translate(cell))}</td>"
    return f"<td>{escape(cell or '')}</td>"


def _invariant(invariant: Invariant, translate: Translate) -> str:
    name, detail = escape(translate(invariant.name)), escape(translate(invariant.detail))
    return f"{_MARKS[invariant.holds]} {name} <small>({detail})</small>"

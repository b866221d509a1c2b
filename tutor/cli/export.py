"""The result of a run as a file: JSON, CSV, or a picture of the terminal as HTML or SVG that needs nothing else."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.contract.declarations import Lab
from engine.contract.json import report_json
from engine.contract.message import Message, say
from engine.contract.report import Bars, Curves, Heatmap, Note, Panel, Report, Table
from tutor.cli.arguments import Translate
from tutor.cli.errors import Unwritable, UsageError
from tutor.cli.output import MARKS, PICTURE_LINES, WIDEST
from tutor.i18n import translate

ENDINGS = (".json", ".csv", ".html", ".svg")

Row = Sequence[object]


def check_target(name: str | None) -> None:
    """Refuse, before anything is computed, a file that cannot be written or is of no known kind."""
    if name is None:
        return
    path = Path(name)
    if path.suffix.lower() not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise UsageError(say("The file {file} must end in one of: {known}.", file=name[:300], known=known), "out")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(say("The folder of {file} does not exist, or {file} is a folder.", file=name[:300]), "out")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(say("The file {file} cannot be written: permission denied.", file=name[:300]), "out")


def export(name: str, lab: Lab, params: Mapping[str, Any], report: Report, language: str) -> None:
    """Write the run to the file `name`, whole or not at all; raise Unwritable."""

    def tr(message: Message) -> str:
        return translate(message, language)

    ending = Path(name).suffix.lower()
    if ending == ".json":
        text = json.dumps(report_json(lab.name, params, report, tr), ensure_ascii=False, allow_nan=False) + "\n"
    elif ending == ".csv":
        text = as_csv(report, tr)
    else:
        text = _picture(ending, lab, report, tr)
    _write(Path(name), text)


def as_csv(report: Report, tr: Translate) -> str:
    """Return every figure and table as a section of its own: a line with its id and title, a head, its rows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    sections = [_section(panel, tr) for panel in report.panels]
    sections.append(_values(report))
    sections.append(_checks(report, tr))
    for number, section in enumerate(sections):
        if number:
            writer.writerow([])
        writer.writerows([_plain(cell, tr) for cell in row] for row in section)
    return buffer.getvalue()


def _section(panel: Panel, tr: Translate) -> Iterator[Row]:
    if isinstance(panel, Note):
        yield panel.id, panel.text
        return
    yield panel.id, panel.title
    if isinstance(panel, Heatmap):
        width = panel.values.shape[1]
        yield f"{tr(panel.row_axis)} / {tr(panel.column_axis)}", *(panel.column_labels or range(1, width + 1))
        for number, row in enumerate(panel.values.rows()):
            yield panel.row_labels[number] if panel.row_labels else number + 1, *row
    elif isinstance(panel, Table):
        yield tuple(column.title for column in panel.columns)
        yield from panel.rows
    elif isinstance(panel, Curves):
        yield panel.x_label, *(series.name for series in panel.series)
        yield from zip(panel.x.flat(), *(series.y.flat() for series in panel.series), strict=True)
    elif isinstance(panel, Bars):
        yield "", panel.value_label
        yield from zip(panel.labels, panel.values.flat(), strict=True)


def _values(report: Report) -> Iterator[Row]:
    yield "values", ""
    for name, value in report.values.items():
        yield (name, *(value if isinstance(value, (list, tuple)) else (value,)))


def _checks(report: Report, tr: Translate) -> Iterator[Row]:
    yield "invariants", ""
    for invariant in report.invariants:
        yield invariant.name, invariant.holds, invariant.detail
    yield "device", report.device
    yield "seed", report.seed
    yield "seconds", report.seconds


def _plain(cell: object, tr: Translate) -> object:
    if isinstance(cell, Message):
        return tr(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    return "" if cell is None else cell


def _picture(ending: str, lab: Lab, report: Report, tr: Translate) -> str:
    """Return the figures as the terminal shows them."""
    from rich.console import Console
    from rich.terminal_theme import MONOKAI

    from tutor.pictures.ink import rich_text
    from tutor.pictures.panel import panel_lines
    from tutor.terminal import Terminal
    from tutor.text.wrap import install_rich

    install_rich()
    console = Console(
        file=io.StringIO(),
        width=WIDEST,
        record=True,
        force_terminal=True,
        force_jupyter=False,
        color_system="truecolor",
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    title = f"{lab.name}  {tr(lab.title)}"
    for panel in report.panels:
        for line in panel_lines(panel, WIDEST, PICTURE_LINES, tr, Terminal()):
            console.print(rich_text(line), soft_wrap=True)
        console.print()
    for invariant in report.invariants:
        console.print(f"{MARKS[invariant.holds]} {tr(invariant.name)}  ({tr(invariant.detail)})")
    if ending == ".svg":
        return _self_contained(console.export_svg(title=title, theme=MONOKAI, unique_id="tutor"))
    page = console.export_html(theme=MONOKAI, inline_styles=True)
    return page.replace("<head>", f"<head>\n<title>{html.escape(title)}</title>", 1)


_SVG_TEXT = re.compile(r'textLength="([\d.]+)"([^>]*)>([^<]*)</text>')


def _self_contained(svg: str) -> str:
    """Return Rich's SVG without its fonts from the network, and with Chinese text as wide as its cells."""
    from tutor.text.width import cells

    def widened(found: re.Match[str]) -> str:
        text = html.unescape(found[3])
        length = float(found[1]) * cells(text) / max(1, len(text))
        return f'textLength="{length:g}"{found[2]}>{found[3]}</text>'

    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, count=1, flags=re.DOTALL)
    return _SVG_TEXT.sub(widened, svg)


def _write(path: Path, text: str) -> None:
    """Write beside the file, then rename: a reader never sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            path.write_text(text, "utf-8")
            return
        beside.write_text(text, "utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        reason = error.strerror or type(error).__name__
        raise Unwritable(
            say("The file {file} cannot be written: {reason}.", file=str(path), reason=reason), "out"
        ) from None

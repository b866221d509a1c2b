"""A report in words: what stands under its figures, and its figures described."""

from __future__ import annotations

from rich.text import Text

from engine.contract.report import Report
from tutor.questions import Translate


def after_figures(report: Report, notice: str, tr: Translate) -> Text:
    """Return what stands under the figures: what to notice, and what was checked on this run."""
    text = Text()
    if notice:
        from tutor.text.inline import line

        text.append_text(Text.assemble("▸ ", line(notice), "\n"))
    for invariant in report.invariants:
        mark = {True: "✓", False: "✗", None: "–"}[invariant.holds]
        text.append(f"{mark} {tr(invariant.name)}", style="bold" if invariant.holds is False else "")
        text.append(f"  {tr(invariant.detail)}\n", style="dim")
    text.rstrip()
    return text


def described(report: Report, width: int, tr: Translate) -> str:
    """Return the figures of a report as plain text with their numbers."""
    from tutor.pictures.panel import plain_lines

    return "\n\n".join("\n".join(plain_lines(panel, width, tr)) for panel in report.panels)

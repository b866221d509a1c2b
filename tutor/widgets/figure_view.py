"""A panel of a report as a widget: lines drawn once for each size and looked up by the Line API."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.errors import NoWidget
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from engine.contract.report import Panel
from tutor.i18n import translate
from tutor.pictures.ink import Line, Look, Role, Translate, segments
from tutor.terminal import Terminal, describe

PanelT = TypeVar("PanelT", bound=Panel)

_ROLES: tuple[Role, ...] = ("muted", "strong", "accent", "warning")


@lru_cache(maxsize=1)
def this_terminal() -> Terminal:
    """Return what the terminal this process runs in can do."""
    return describe(os.environ, sys.__stdout__.encoding if sys.__stdout__ else "utf-8")


class FigureView(Widget, Generic[PanelT], can_focus=True):
    """One panel: drawn for the width it gets, or for all of the screen when it is enlarged."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"figure--{role}" for role in _ROLES}
    DEFAULT_CSS = """
    FigureView { width: 1fr; height: auto; }
    FigureView .figure--muted { color: $text-muted; }
    FigureView .figure--strong { text-style: bold; }
    FigureView .figure--accent { color: $accent; text-style: bold; }
    FigureView .figure--warning { color: $warning; text-style: bold; }
    FigureView.-maximized { margin: 0; width: 1fr; height: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", show=False),
        Binding("down", "go(1)", show=False),
    ]

    language: reactive[str] = reactive("en", layout=True)

    @dataclass
    class EdgeCrossed(Message):
        """The learner moved beyond this figure: −1 to the one before it, 1 to the one after it."""

        view: FigureView[Any]
        direction: int

    def __init__(self, panel: PanelT, language: str = "en", terminal: Terminal | None = None) -> None:
        super().__init__()
        self._panel = panel
        self.terminal = terminal or this_terminal()
        self.set_reactive(FigureView.language, language)
        self._known: dict[Look, Style] = {}
        self._strips: list[Strip] = []
        self._drawn_for: tuple[int, int | None] | None = None

    @property
    def panel(self) -> PanelT:
        """What is shown."""
        return self._panel

    def set_panel(self, panel: PanelT) -> None:
        """Show another panel of the same kind in place."""
        if panel == self._panel:
            return
        before = len(self._strips)
        self._panel = panel
        self.redraw()
        if self.is_mounted and self.size.width:
            self._draw()
            self.refresh(layout=len(self._strips) != before)

    def lines(self, width: int, height: int | None, translate: Translate) -> list[Line]:
        """Draw the panel."""
        from tutor.pictures.panel import panel_lines

        return panel_lines(self._panel, width, height, translate, self.terminal)

    @property
    def translate(self) -> Translate:
        """The translation into the language of the figure."""
        return partial(translate, language=self.language)

    def redraw(self) -> None:
        """Forget the drawn lines."""
        self._drawn_for = None
        self._known.clear()

    def watch_language(self) -> None:
        """Draw in the other language."""
        self.redraw()

    def notify_style_update(self) -> None:
        """Draw in the colours of another theme."""
        super().notify_style_update()
        self.redraw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return as many lines as the panel has in this width."""
        if not self.is_maximized:
            self._draw(width, None)
        return max(1, len(self._strips))

    def render_line(self, y: int) -> Strip:
        """Return a line from the cache, the title of the focused figure in the accent colour."""
        self._draw()
        if y >= len(self._strips):
            return Strip.blank(self.size.width, self.rich_style)
        strip = self._strips[y]
        return strip.apply_style(self.role_style("accent")) if y == 0 and self.has_focus else strip

    def role_style(self, role: Role) -> Style:
        """Return how the theme shows a role."""
        return self.rich_style if role == "" else self.get_component_rich_style(f"figure--{role}")

    def _draw(self, width: int | None = None, height: int | None = None) -> None:
        """Make the strips if they are not those for this size."""
        if width is None:
            width, height = self.size.width, self.size.height if self.is_maximized else None
        if self._drawn_for == (width, height) or width < 1:
            return
        self._drawn_for = (width, height)
        roles = self._role_styles()
        lines = self.lines(width, height, self.translate)
        self._strips = [self._strip(line, width, roles) for line in lines]

    def _role_styles(self) -> Mapping[Role, Style]:
        return {"": self.rich_style, **{role: self.role_style(role) for role in _ROLES}}

    def _strip(self, line: Line, width: int, roles: Mapping[Role, Style]) -> Strip:
        strip = Strip([Segment(text, style) for text, style, _ in segments(line, roles, self._known)])
        return strip.adjust_cell_length(width, roles[""])

    def on_focus(self) -> None:
        """Show which figure the keys act on."""
        self.refresh()

    def on_blur(self) -> None:
        """Show that the keys act elsewhere."""
        self.refresh()

    def action_go(self, direction: int) -> None:
        """Scroll by a line, or go to the neighbouring figure when this one's edge is in view."""
        try:
            clip = self.screen.find_widget(self).clip
        except NoWidget:  # the figure is on its way in or out
            return
        seen = self.region.y >= clip.y if direction < 0 else self.region.bottom <= clip.bottom
        page = self.page
        if seen or page is None:
            self.post_message(self.EdgeCrossed(self, direction))
        else:
            page.scroll_relative(y=direction, animate=False)

    @property
    def page(self) -> Widget | None:
        """The widget that scrolls this one."""
        return next((up for up in self.ancestors if isinstance(up, Widget) and up.allow_vertical_scroll), None)

"""A heatmap with a cursor: arrows move it, the line below tells the pair and the exact value.

The map itself is drawn once for each panel and size; cursor, focused row and labels are laid over the drawn lines, and
a move repaints only the cells it changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.errors import NoWidget
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from engine.contract.report import Heatmap
from tutor.pictures.grid import Pool
from tutor.pictures.heatmap import Picture, draw_heatmap
from tutor.pictures.heatmap_text import cursor_line, has_table, number_table
from tutor.pictures.ink import Line, Translate
from tutor.pictures.rule import title_rule
from tutor.terminal import Terminal
from tutor.widgets.cursor_look import cursor_segments, dimmed
from tutor.widgets.figure_view import FigureView

Numbers = Literal["in cells", "table", "none"]


class HeatmapView(FigureView[Heatmap]):
    """A heatmap that can be read cell by cell."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(0, -1)", show=False),
        Binding("right", "move(0, 1)", show=False),
        Binding("up", "move(-1, 0)", show=False),
        Binding("down", "move(1, 0)", show=False),
        Binding("home", "row_end(-1)", show=False),
        Binding("end", "row_end(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("r", "focus_row", show=False),
        Binding("n", "next_numbers", show=False),
        Binding("a", "next_pool", show=False),
    ]

    cursor: reactive[tuple[int, int] | None] = reactive(None, repaint=False)
    row_focused: reactive[bool] = reactive(False)
    numbers: reactive[Numbers] = reactive("in cells", layout=True)
    pool: reactive[Pool] = reactive("max")

    @dataclass
    class CursorMoved(Message):
        """The cursor stands on another value; row and column count the values of the panel from 0."""

        view: HeatmapView
        row: int
        column: int
        value: float

        @property
        def control(self) -> HeatmapView:
            """The heatmap the cursor is on."""
            return self.view

    def __init__(self, panel: Heatmap, language: str = "en", terminal: Terminal | None = None) -> None:
        super().__init__(panel, language, terminal)
        self._picture: Picture | None = None
        self._dim: dict[Style, Style] = {}
        self._cursor_y = 0

    # -- drawing ------------------------------------------------------------------------------------------------

    def lines(self, width: int, height: int | None, translate: Translate) -> list[Line]:
        """Draw the map, or its table of numbers, and keep a line for the cursor."""
        self._dim.clear()
        if self.numbers == "table":
            self._picture = None
            title = title_rule(translate(self.panel.title), width, self.terminal.unicode)
            return [title, *number_table(self.panel, width)]
        room = None if height is None else height - 1
        written = self.numbers == "in cells"
        self._picture = draw_heatmap(self.panel, width, room, translate, self.terminal, written, self.pool)
        self._cursor_y = len(self._picture.lines)
        self.call_after_refresh(self._place_cursor_line)
        return [*self._picture.lines, []]

    def set_panel(self, panel: Heatmap) -> None:
        """Show another heatmap; the cursor stays where the shape stays."""
        if panel.values.shape != self.panel.values.shape:
            self.cursor = None
            if self.numbers == "table" and not has_table(panel):
                self.numbers = "in cells"
        super().set_panel(panel)

    def watch_numbers(self) -> None:
        """Draw with numbers elsewhere."""
        self.redraw()

    def watch_pool(self) -> None:
        """Draw what the cells stand for now."""
        self.redraw()

    def render_line(self, y: int) -> Strip:
        """Return a drawn line with the cursor and the highlights laid over it."""
        strip = super().render_line(y)
        picture, cursor = self._picture, self.cursor
        if picture is None or cursor is None or not picture.grid:
            return strip
        if y == self._cursor_y:
            return self._cursor_strip(picture, cursor)
        left, line, width, height = picture.layout.region(*cursor)
        top, end = picture.layout.top, picture.layout.top + picture.layout.map_height
        if self.row_focused and top <= y < end and not line <= y < line + height:
            return self._dimmed_strip(strip)
        if line <= y < line + height:
            middle = y == line + (height - 1) // 2
            marked = cursor_segments(picture, cursor, strip.crop(left, left + width), middle, self.rich_style)
            strip = Strip.join([strip.crop(0, left), Strip(marked, width), strip.crop(left + width)])
        return self._with_labels(strip, y, picture, cursor)

    def _with_labels(self, strip: Strip, y: int, picture: Picture, cursor: tuple[int, int]) -> Strip:
        """Return a line with the labels of the cursor's row and column in the accent colour."""
        layout = picture.layout
        left, line, width, height = layout.region(*cursor)
        if layout.pool_rows > 1 or layout.halves:
            return strip
        if y == line + (height - 1) // 2:
            return self._accented(strip, 0, layout.left)
        if y == layout.top - 1 and layout.cell_width > 1:
            return self._accented(strip, left, left + width)
        return strip

    def _accented(self, strip: Strip, start: int, end: int) -> Strip:
        text = strip.crop(start, end).text
        accent = Strip([Segment(text, self.role_style("accent"))], end - start)
        return Strip.join([strip.crop(0, start), accent, strip.crop(end)])

    def _dimmed_strip(self, strip: Strip) -> Strip:
        return Strip(
            [Segment(text, dimmed(style, self.rich_style, self._dim)) for text, style, _ in strip], strip.cell_length
        )

    def _cursor_strip(self, picture: Picture, cursor: tuple[int, int]) -> Strip:
        width = self.size.width
        line = cursor_line(self.panel, picture.layout, picture.values, *cursor, width, self.translate)
        return self._strip(line, width, self._role_styles())

    def on_mount(self) -> None:
        """Keep the cursor line in view when the page scrolls."""
        if self.page is not None:
            self.watch(self.page, "scroll_y", self._page_scrolled, init=False)

    def _page_scrolled(self) -> None:
        if self.cursor is not None:
            self.call_after_refresh(self._place_cursor_line)

    def _place_cursor_line(self) -> None:
        """Put the cursor line at the end of the figure, or of what can be seen of a figure taller than its place."""
        if self._picture is None or not self._picture.grid or not self.is_attached:
            return
        try:
            seen = self.screen.find_widget(self).clip.bottom - self.region.y
        except NoWidget:  # gone from the layout since the call was scheduled, or not yet in it
            return
        place = min(len(self._strips), max(seen, self._picture.layout.top + 1)) - 1
        if place != self._cursor_y:
            before, self._cursor_y = self._cursor_y, place
            self.refresh(*(Region(0, y, self.size.width, 1) for y in (before, place)))

    # -- the cursor ---------------------------------------------------------------------------------------------

    def on_focus(self) -> None:
        """Put the cursor on the first cell when it is nowhere yet."""
        if self.cursor is None:
            self.cursor = (0, 0)
        super().on_focus()

    def watch_cursor(self, old: tuple[int, int] | None, new: tuple[int, int] | None) -> None:
        """Repaint what the move changes, and tell where the cursor is."""
        picture = self._picture
        if picture is None or not picture.grid:
            return
        if self.row_focused and (old is None or new is None or old[0] != new[0]):
            self.refresh()
        else:
            self.refresh(*self._touched(picture, old), *self._touched(picture, new))
        if new is not None and self.has_focus:
            layout = picture.layout
            row, column = new[0] * layout.pool_rows, new[1] * layout.pool_columns
            self.post_message(self.CursorMoved(self, row, column, picture.values.numbers[new[0]][new[1]]))

    def validate_cursor(self, cursor: tuple[int, int] | None) -> tuple[int, int] | None:
        """Keep the cursor on the map."""
        if cursor is None or self._picture is None or not self._picture.grid:
            return cursor
        layout = self._picture.layout
        return (min(max(0, cursor[0]), layout.rows - 1), min(max(0, cursor[1]), layout.columns - 1))

    def _touched(self, picture: Picture, cursor: tuple[int, int] | None) -> list[Region]:
        """Return the regions that show a cursor."""
        if cursor is None:
            return []
        layout = picture.layout
        left, line, width, height = layout.region(*cursor)
        regions = [Region(left, line, width, height), Region(0, self._cursor_y, self.size.width, 1)]
        if layout.pool_rows == 1 and not layout.halves:
            regions.append(Region(0, line + (height - 1) // 2, layout.left, 1))
            regions.append(Region(left, layout.top - 1, width, 1))
        return regions

    def action_move(self, rows: int, columns: int) -> None:
        """Move the cursor by cells; beyond the edge is the neighbouring figure."""
        picture = self._picture
        if picture is None or not picture.grid:
            if rows:
                self.action_go(rows)
            return
        row, column = self.cursor or (0, 0)
        target = (row + rows, column + columns)
        if 0 <= target[0] < picture.layout.rows and 0 <= target[1] < picture.layout.columns:
            self.cursor = target
            self._keep_in_view(picture)
        else:
            self.post_message(self.EdgeCrossed(self, rows + columns))

    def action_row_end(self, direction: int) -> None:
        """Go to the first or the last column."""
        row, _ = self.cursor or (0, 0)
        self.cursor = (row, 10**6 if direction > 0 else 0)

    def action_page(self, direction: int) -> None:
        """Go ten rows up or down."""
        row, column = self.cursor or (0, 0)
        self.cursor = (row + 10 * direction, column)
        if self._picture is not None:
            self._keep_in_view(self._picture)

    def action_focus_row(self) -> None:
        """Dim the other rows, or show them again."""
        self.row_focused = not self.row_focused

    def action_next_numbers(self) -> None:
        """Go on from numbers in the cells to a table of them (where it is small enough) to colours alone."""
        order: list[Numbers] = ["in cells", "table", "none"] if has_table(self.panel) else ["in cells", "none"]
        self.numbers = order[(order.index(self.numbers) + 1) % len(order)]

    def action_next_pool(self) -> None:
        """Change between the peak and the mean of the values behind one cell."""
        self.pool = "mean" if self.pool == "max" else "max"

    def _keep_in_view(self, picture: Picture) -> None:
        """Scroll the page so far that the cursor's cell is seen."""
        if self.cursor is None:
            return
        page = self.page
        if page is not None:
            x, y, width, height = picture.layout.region(*self.cursor)
            place = self.region.offset - page.content_region.offset + page.scroll_offset
            page.scroll_to_region(Region(x, y, width, height).translate(place), animate=False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Read the cell under the mouse."""
        self._point(event)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked cell."""
        self._point(event)

    def _point(self, event: events.MouseEvent) -> None:
        place = self._picture.layout.cell_at(event.x, event.y) if self._picture is not None else None
        if place is not None:
            self.cursor = place

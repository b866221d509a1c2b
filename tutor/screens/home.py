"""The course map: parts and lessons on the left, the chosen lesson on the right."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.contract.labs import MODULES, declaration
from engine.contract.message import say
from tutor.course.model import LessonInfo, Place
from tutor.progress.records import LessonProgress
from tutor.screens.base import KeyBar, TooSmall, TopBar, TutorScreen, bindings_of
from tutor.text.width import cut, pad

LIST_WIDTH = 36


class HomeScreen(TutorScreen):
    """Where the course is surveyed and entered."""

    PLACE = "map"
    BINDINGS: ClassVar[list[Any]] = bindings_of("map")

    def compose(self) -> ComposeResult:
        """Show the frame, the list and the details."""
        yield TooSmall()
        yield TopBar()
        with Horizontal(id="map"):
            yield OptionList(id="lessons")
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="details")
        yield Static(id="first-start")
        yield KeyBar()

    def on_mount(self) -> None:
        """Give the list the keyboard."""
        self.query_one(OptionList).focus()

    def on_screen_resume(self) -> None:
        """Fill the list, with what has been done meanwhile, and put the cursor where the learner is."""
        super().on_screen_resume()
        self._fill()

    def headings(self) -> list[Text]:
        """Return the course's name."""
        return [Text.assemble((" tutor  ", "bold"), self.say(say("From RNN to Transformer")))]

    def retranslate(self) -> None:
        """Show the map in the other language."""
        self._fill()
        self.refresh_bars()

    # -- the list -----------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        lessons = self.query_one(OptionList)
        kept = self._chosen()
        course, progress = self.tutor.catalog.course, self.tutor.store.lesson_progress()
        options: list[Option] = []
        for part in course.parts:
            if infos := course.of_part(part):
                options.append(Option(Text(part.title.of(self.tutor.language), style="bold"), disabled=True))
                options += [Option(self._line(info, progress.get(info.id)), id=info.id) for info in infos]
        lessons.clear_options()
        lessons.add_options(options)
        self._put_cursor(lessons, kept)
        self._show_details()
        first = self.query_one("#first-start", Static)
        first.display = self.tutor.store.position() is None
        first.update(self.say(say(" First time here? Enter opens the lesson; z 切换到中文; ? shows every key.")))

    def _chosen(self) -> str | None:
        lessons = self.query_one(OptionList)
        if lessons.highlighted is not None and lessons.option_count:
            return lessons.get_option_at_index(lessons.highlighted).id
        position = self.tutor.store.position()
        return position.lesson if position is not None else None

    def _put_cursor(self, lessons: OptionList, id: str | None) -> None:
        known = [option.id for option in lessons.options]
        first = next((i for i, option in enumerate(lessons.options) if not option.disabled), None)
        lessons.highlighted = known.index(id) if id and id in known else first

    def _line(self, info: LessonInfo, progress: LessonProgress | None) -> Text:
        room = LIST_WIDTH - 11
        title = pad(cut(short_title(info.title.of(self.tutor.language)), room), room)
        return Text(f"{self._mark(info, progress)} {info.id} {title} {info.minutes:>4}", no_wrap=True)

    def _mark(self, info: LessonInfo, progress: LessonProgress | None) -> str:
        if progress is None or not progress.steps_seen:
            return " "
        total = len(self.tutor.catalog.lesson(info, self.tutor.language).steps)
        return "✓" if progress.steps_finished >= total else "◐"

    # -- the details --------------------------------------------------------------------------------------------

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._show_details()

    def _show_details(self) -> None:
        details = self.query_one("#details", Static)
        info = self.tutor.catalog.course.lesson(self._chosen() or "")
        if info is None:
            details.update(self.say(say("There are no lessons here; `tutor lint` says what is wrong with the pack.")))
            return
        details.update(self._details(info))

    def _details(self, info: LessonInfo) -> Text:
        language = self.tutor.language
        minutes = self.say(say("{minutes} min", minutes=info.minutes))
        text = Text.assemble((f"{info.id}  {info.title.of(language)}", "bold"), "\n", (minutes, "dim"), "\n\n")
        if objectives := info.objectives.of(language):
            text.append(self.say(say("You will be able to: ")), style="dim").append(objectives + "\n\n")
        labs = [name for name in info.labs if name in MODULES]
        for index, name in enumerate(labs):
            head = self.say(say("Labs")) if index == 0 else ""
            text.append(pad(head, 8), style="dim").append(f"{name:<12}{self.say(declaration(name).title)}\n")
        if info.prerequisites:
            text.append(pad(self.say(say("Before")), 8), style="dim").append(", ".join(info.prerequisites) + "\n")
        progress = self.tutor.store.lesson_progress().get(info.id)
        if progress is not None and progress.last_visit is not None:
            text.append_text(self._last_time(info, progress))
        return text

    def _last_time(self, info: LessonInfo, progress: LessonProgress) -> Text:
        assert progress.last_visit is not None
        days = (datetime.now(timezone.utc) - progress.last_visit).days
        when = self.say(say("today") if days == 0 else say("{days} days ago", days=days))
        total = len(self.tutor.catalog.lesson(info, self.tutor.language).steps)
        done = say(
            "{finished} of {total} steps; predictions {hit} of {made} right; quiz {right} of {answered} right; {when}",
            finished=progress.steps_finished,
            total=total,
            hit=progress.predictions_hit,
            made=progress.predictions_made,
            right=progress.quizzes_right,
            answered=progress.quizzes_answered,
            when=when,
        )
        return Text.assemble(("\n" + pad(self.say(say("So far")), 8), "dim"), self.say(done))

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        info = self.tutor.catalog.course.lesson(event.option.id or "")
        if info is not None:
            self.tutor.open_lesson(Place(info))


def short_title(title: str) -> str:
    """Return a title without what follows its colon, for a narrow list."""
    for colon in (": ", "："):
        title = title.partition(colon)[0]
    return title

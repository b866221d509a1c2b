"""A lesson by keyboard alone: reading, predicting, running, answering, in both languages and at three sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.pilot import SIZES, make_app, sees, shown, until
from tutor.progress.store import Store
from tutor.screens.home import HomeScreen
from tutor.screens.lesson import LessonScreen
from tutor.widgets.form_rows import FormRows
from tutor.widgets.lab_panel import LabPanel
from tutor.widgets.question import QuestionView
from tutor.widgets.step_text import StepText

RESULT = {"en": ("Attention weights", "0.4011"), "zh": ("注意力权重", "0.4011")}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_enter_alone_leads_through_a_step(tmp_path: Path, language: str, size: tuple[int, int]) -> None:
    app = make_app(tmp_path, language, "self-attention#by-hand")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        for _ in range(4):  # read on until the prediction is asked
            await pilot.press("enter")
            if app.focused is not None and app.focused.id == "answer":
                break
        await pilot.press("enter", "enter")  # the first option, as sure as proposed
        await sees(pilot, *RESULT[language])
        assert [(p.predict, p.outcome) for p in Store(tmp_path).predictions("L08")] != []


async def test_a_result_is_withheld_until_it_is_predicted(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("f5")
        assert "0.4011" not in shown(app)
        await pilot.press("s")
        await sees(pilot, "0.4011", "Not predicted.")
        assert [p.outcome for p in Store(tmp_path).predictions("L08")] == ["skipped"]


async def test_a_prediction_can_be_skipped_from_the_text(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("s")
        await sees(pilot, "0.4011", "Not predicted.")


async def test_the_key_bar_can_be_clicked(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        bar = shown(app).splitlines()[-1]
        await pilot.click(offset=(bar.index("next"), 39))
        await sees(pilot, "5/14")
        await pilot.click(offset=(shown(app).splitlines()[-1].index("中文"), 39))
        await sees(pilot, "下一步")


async def test_numbers_in_the_prose_appear_with_the_result(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await sees(pilot, "The output is the blend")
        assert "6.017, 3.983" not in shown(app)
        await pilot.press("f5", "s")
        await sees(pilot, "6.017, 3.983")


async def test_the_language_changes_in_place_and_keeps_what_was_answered(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("f5", "enter", "enter")
        await sees(pilot, "My prediction")
        await pilot.press("f2")
        await sees(pilot, "我的预测", "注意力权重", "手算")
        await pilot.press("f2")
        await sees(pilot, "My prediction", "Attention weights")
        result = next(line for line in shown(app).splitlines() if "My prediction" in line)
        assert not any("\u4e00" <= character <= "\u9fff" for character in result)


async def test_the_language_changes_while_parameters_are_edited(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("p", "down", "down", "z")
        await sees(pilot, "▸ 温度 τ")
        assert isinstance(app.focused, FormRows)


async def test_an_answer_in_progress_survives_a_change_of_language(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#softmax")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(QuestionView))
        app.screen.query_one(QuestionView).focus_answer()
        await pilot.press("0", "full_stop", "4", "f2")
        await sees(pilot, "测验", "0.4")


async def test_a_wrong_quiz_answer_is_explained_and_can_be_given_again(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#softmax")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(QuestionView))
        app.screen.query_one(QuestionView).focus_answer()
        await pilot.press("0", "full_stop", "4", "enter")
        await sees(pilot, "✗", "0.5")
        await pilot.press("backspace", "5", "enter")
        await sees(pilot, "✓")
        assert [answer.right for answer in Store(tmp_path).answers("L08")] == [False, True]


async def test_an_answer_that_is_no_number_is_refused_in_place(tmp_path: Path) -> None:
    app = make_app(tmp_path, "zh", "self-attention#softmax")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(QuestionView))
        app.screen.query_one(QuestionView).focus_answer()
        await pilot.press("a", "b", "enter")
        await sees(pilot, "“ab”")
        assert Store(tmp_path).answers("L08") == []


async def test_keys_faster_than_the_screen_lead_where_they_should(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention")
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(6):
            app.screen.action_next_step()  # type: ignore[attr-defined]
        app.screen.action_previous_step()  # type: ignore[attr-defined]
        app.action_switch_language()
        app.action_switch_language()
        await sees(pilot, "6/14", "What is new compared with L07")
        await until(pilot, lambda: len(app.screen.query("#bench")) == 1)


async def test_the_tutor_opens_where_it_was_left(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right_square_bracket", "right_square_bracket")
        await sees(pilot, "3/14")
    again = make_app(tmp_path)
    async with again.run_test(size=(80, 24)) as pilot:
        await sees(pilot, "3/14")


async def test_escape_goes_back_one_level_at_a_time(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("p")
        assert isinstance(app.focused, FormRows)
        await pilot.press("escape", "escape")
        assert isinstance(app.focused, StepText)
        await pilot.press("escape")
        assert isinstance(app.screen, HomeScreen)


async def test_a_changed_parameter_reruns_a_quick_lab_after_a_moment(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("f5", "s")
        await sees(pilot, "0.4011")
        await pilot.press("p", "down", "right")  # do not divide by √d_k
        await sees(pilot, ".422")


async def test_a_refused_parameter_stays_with_its_sentence_until_it_is_changed(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query(LabPanel))
        await pilot.press("p", "down", "down", "enter", *"9", "enter")
        await sees(pilot, "must lie between 0.1 and 5")
        await pilot.press("escape")
        await until(pilot, lambda: "must lie between" not in shown(app))


async def test_the_last_step_leads_back_to_the_map(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#14")
    async with app.run_test(size=(80, 24)) as pilot:
        await sees(pilot, "14/14")
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_formulas_can_be_shown_as_tex(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#formula")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LessonScreen) and app.screen.query(LabPanel) is not None)
        await pilot.press("m")
        await sees(pilot, "\\sqrt")
        await pilot.press("m")
        await until(pilot, lambda: "\\sqrt" not in shown(app))

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.cli.language import choose_language, named_language


def nothing() -> None:
    return None


@pytest.mark.parametrize(
    ("option", "environment", "saved", "language"),
    [
        ("zh", {"TUTOR_LANG": "en", "LC_ALL": "en_US.UTF-8"}, "en", "zh"),
        (None, {"TUTOR_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, "en", "zh"),
        (None, {"TUTOR_LANG": "zh_CN.UTF-8"}, "en", "zh"),
        (None, {"LC_ALL": "en_US.UTF-8"}, "zh", "zh"),
        (None, {"LC_ALL": "zh_CN.UTF-8"}, "en", "en"),
        (None, {"LC_ALL": "zh_CN.UTF-8"}, None, "zh"),
        (None, {"LC_MESSAGES": "zh_TW", "LANG": "en_US"}, None, "zh"),
        (None, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, None, "en"),
        (None, {"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, None, "zh"),
        (None, {"LANG": "de_DE.UTF-8"}, None, "en"),
        (None, {}, None, "en"),
    ],
)
def test_the_stronger_wish_decides(
    option: str | None, environment: dict[str, str], saved: object, language: str
) -> None:
    assert choose_language(option, environment, lambda: saved) == language


@pytest.mark.parametrize("name", ["fr", "", "chinese", "zzh", "enzh", "\udcff"])
def test_a_name_of_no_language_of_ours_is_passed_over(name: str) -> None:
    assert choose_language(name, {"TUTOR_LANG": name}, lambda: "zh") == "zh"


def test_progress_is_not_read_when_the_option_decides() -> None:
    def saved() -> object:
        raise AssertionError("read")

    assert choose_language("en", {}, saved) == "en"


@given(st.text(), st.dictionaries(st.sampled_from(["TUTOR_LANG", "LC_ALL", "LANG"]), st.text()), st.integers())
def test_whatever_is_asked_one_of_the_two_comes_out(option: str, environment: dict[str, str], saved: object) -> None:
    assert choose_language(option, environment, lambda: saved) in ("zh", "en")


def test_the_option_is_found_before_the_command_line_is_parsed() -> None:
    assert named_language(["run", "heads", "--lang", "zh"]) == "zh"
    assert named_language(["--lang=en", "labs"]) == "en"
    assert named_language(["--lang"]) is None
    assert named_language(["labs"]) is None

"""The words that follow a review in the texts without labels: what the audience did (engine.tasks.verdicts)."""

from __future__ import annotations

LINK = {"en": ("so", "we"), "zh": ("所以", "我们")}
PLEASED = {"en": ("clapped", "smiled", "stayed", "cheered"), "zh": ("鼓掌", "微笑", "留下", "欢呼")}
DISPLEASED = {"en": ("left", "yawned", "slept", "complained"), "zh": ("离开", "打哈欠", "睡着", "抱怨")}
VERDICT_WORDS = {language: (*LINK[language], *PLEASED[language], *DISPLEASED[language]) for language in LINK}

"""The toy language of the translation labs: its words, its word order in English and Chinese, and how it is read.

    en   subject verb [some] object [in the place] [time]           they read books in the park today
    zh   subject [time] [在 place] verb 了 [一些] object              他们 今天 在 公园 读 了 书

Place and time move to the front, so that no alignment of the two is a straight line.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.contract.kinds import shown
from engine.contract.message import Message, say

SUBJECTS = {"i": "我", "he": "他", "she": "她", "we": "我们", "they": "他们"}
VERBS = {"read": "读", "bought": "买", "drew": "画", "saw": "看", "took": "拿", "lost": "丢"}
OBJECTS = {"books": "书", "cats": "猫", "maps": "地图", "tea": "茶", "lamps": "灯", "kites": "风筝"}
PLACES = {"park": "公园", "cafe": "咖啡馆", "school": "学校", "museum": "博物馆", "station": "车站"}
TIMES = {"yesterday": "昨天", "today": "今天", "early": "一早", "late": "深夜"}

ENGLISH = (*SUBJECTS, *VERBS, "some", *OBJECTS, "in", "the", *PLACES, *TIMES)
CHINESE = (
    *SUBJECTS.values(),
    *TIMES.values(),
    "在",
    *PLACES.values(),
    *VERBS.values(),
    "了",
    "一些",
    *OBJECTS.values(),
)


@dataclass(frozen=True)
class Clause:
    """A sentence by its parts, in English words; place and time may be missing."""

    subject: str
    verb: str
    some: bool
    object: str
    place: str = ""
    time: str = ""

    @property
    def english(self) -> list[str]:
        """The words in English order."""
        words = [self.subject, self.verb, *(["some"] if self.some else []), self.object]
        words += ["in", "the", self.place] if self.place else []
        return words + ([self.time] if self.time else [])

    @property
    def aligned(self) -> list[tuple[str, str]]:
        """The words in Chinese order, each with the English word it says ("" for 了, which says none)."""
        pairs = [(SUBJECTS[self.subject], self.subject)]
        pairs += [(TIMES[self.time], self.time)] if self.time else []
        pairs += [("在", "in"), (PLACES[self.place], self.place)] if self.place else []
        pairs += [(VERBS[self.verb], self.verb), ("了", "")]
        pairs += [("一些", "some")] if self.some else []
        return [*pairs, (OBJECTS[self.object], self.object)]

    @property
    def chinese(self) -> list[str]:
        """The words in Chinese order."""
        return [chinese for chinese, _ in self.aligned]

    @property
    def alignment(self) -> list[int]:
        """For each Chinese word the position of its English word, −1 for 了."""
        english = self.english
        return [english.index(word) if word else -1 for _, word in self.aligned]


def read_clause(label: Message, sentence: str) -> Clause | Message:
    """Return the parts of an English sentence, or where it leaves the toy grammar and what could stand there."""
    reader = _Reader(label, sentence.lower().split())
    try:
        subject, verb = reader.one_of(SUBJECTS), reader.one_of(VERBS)
        some = reader.follows("some")
        thing = reader.one_of(OBJECTS)
        place = ""
        if reader.follows("in"):
            reader.one_of({"the": ""})
            place = reader.one_of(PLACES)
        time = reader.one_of(TIMES) if reader.rest else ""
        reader.end()
    except _OutsideGrammar as error:
        return error.message
    return Clause(subject, verb, some, thing, place, time)


class _OutsideGrammar(Exception):
    def __init__(self, message: Message) -> None:
        self.message = message


class _Reader:
    """The words not yet read."""

    def __init__(self, label: Message, words: list[str]) -> None:
        self.label = label
        self.words = words
        self.rest = list(words)

    def follows(self, word: str) -> bool:
        """Take `word` when it is next."""
        if self.rest[:1] != [word]:
            return False
        self.rest.pop(0)
        return True

    def one_of(self, words: dict[str, str]) -> str:
        """Take the next word, which must be one of `words`."""
        if not self.rest:
            message = say(
                "{label} ends too early; after its {count} words goes one of: {options}.",
                label=self.label,
                count=len(self.words),
                options=", ".join(words),
            )
            raise _OutsideGrammar(message)
        if self.rest[0] not in words:
            message = say(
                "{label} has “{word}” as word {position}; there goes one of: {options}.",
                label=self.label,
                word=shown(self.rest[0]),
                position=len(self.words) - len(self.rest) + 1,
                options=", ".join(words),
            )
            raise _OutsideGrammar(message)
        return self.rest.pop(0)

    def end(self) -> None:
        """Refuse what comes after the sentence."""
        if self.rest:
            message = say(
                "{label} is complete before “{word}”; take away what follows.",
                label=self.label,
                word=shown(self.rest[0]),
            )
            raise _OutsideGrammar(message)

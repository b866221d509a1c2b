"""A learner's whole progress as one JSON file, and back: importing merges, and importing twice changes nothing."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Annotated, Literal

import msgspec

from engine.contract.message import Message, say
from tutor.progress.records import Answer, Position, Prediction, Record, Run, Setting, StepVisit
from tutor.progress.store import Store
from tutor.progress.tables import plain, revive

SCHEMA = 1


class _Format(msgspec.Struct):
    """What must be known before the rest is read."""

    format: Literal["tutor-progress"]
    schema: Annotated[int, msgspec.Meta(ge=1)]


class Export(_Format):
    """The records of an export file; a float that JSON cannot write is {"float": "nan" | "inf" | "-inf"}."""

    position: Position | None
    visits: list[StepVisit]
    answers: list[Answer]
    predictions: list[Prediction]
    runs: list[Run]
    settings: list[Setting]

    def records(self) -> list[Record]:
        """Return all records of the file."""
        position = [self.position] if self.position else []
        return [*position, *self.visits, *self.answers, *self.predictions, *self.runs, *self.settings]


class ImportRefusedError(ValueError):
    """The file is not one that `export_json` wrote; `message` is for the learner."""

    def __init__(self, message: Message) -> None:
        """Take the sentence that says why."""
        super().__init__(str(message))
        self.message = message


def export_json(store: Store) -> bytes:
    """Return everything the store knows as UTF-8 JSON."""
    export = Export(
        format="tutor-progress",
        schema=SCHEMA,
        position=store.position(),
        visits=store.visits(),
        answers=store.answers(),
        predictions=store.predictions(),
        runs=store.runs(),
        settings=store.settings(),
    )
    return json.dumps(plain(msgspec.to_builtins(export)), ensure_ascii=False, indent=1).encode()


def import_json(store: Store, data: bytes) -> Future[bool]:
    """Merge an export into the store; the future is that of the store's write methods.

    Raises ImportRefusedError, and then nothing has been taken in.
    """
    try:
        if msgspec.json.decode(data, type=_Format).schema > SCHEMA:
            raise ImportRefusedError(
                say("This file was exported by a newer tutor. Update tutor, then import it again.")
            )
        msgspec.json.decode(data, type=Export)  # refuses broken text, which json.loads lets through
        export = msgspec.convert(json.loads(data, object_hook=revive), Export)
        return store.merge(export.records())
    except msgspec.ValidationError as error:
        raise ImportRefusedError(_not_an_export(str(error))) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError, OverflowError) as error:
        raise ImportRefusedError(_not_an_export("")) from error


def _not_an_export(reason: str) -> Message:
    """Name the place in the file where msgspec's sentence ends with one ("… - at `$.runs[3].seed`")."""
    _, found, place = reason.rpartition(" - at `$.")
    if found:
        return say(
            "This is not a progress file that tutor exported: {place} is not as it should be.",
            place=place.rstrip("`"),
        )
    return say("This is not a progress file that tutor exported (JSON with “format”: “tutor-progress”).")

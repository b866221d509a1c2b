"""The engine process of one command: started when the first lab runs, ended with the command."""

from __future__ import annotations

import shutil
import signal
import sys
from argparse import Namespace
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any

from engine.contract.message import say
from engine.contract.protocol import Failed, Finished, Started
from engine.contract.report import Progress, Report
from tutor.cli.arguments import Translate
from tutor.cli.errors import EngineError, UsageError
from tutor.engine_client.client import EngineClient
from tutor.engine_client.process import CannotStart, words

_OUR_INPUT = ("invalid", "unknown-lab", "no-device", "timeout")


def engine_command(command: str | None) -> list[str] | None:
    """Return the words of `--engine`; raise UsageError when they are none."""
    if command is None:
        return None
    try:
        return words(command)
    except CannotStart as refused:
        raise UsageError(refused.message, "engine") from None


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """End the command; a second Ctrl+C must not cut that short, or a login that never answered would stay behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


class Engine:
    """Runs labs one after another; on a terminal, stderr shows how far they are."""

    def __init__(self, options: Namespace, tr: Translate) -> None:
        self._device: str = options.device
        self._tr = tr
        self._meter = Meter()
        self._client = EngineClient(
            lambda reply: None, command=engine_command(options.engine), gpu_memory=options.gpu_memory
        )

    def __enter__(self) -> Engine:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt_once)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._meter.clear()
        self._client.close()
        if signal.getsignal(signal.SIGINT) is _interrupt_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(self, lab: str, params: Mapping[str, Any], seed: int, language: str) -> Report:
        """Return the report of a run; raise UsageError when it is refused, EngineError when it fails.

        `language` chooses the lab's own data, such as a sample sentence.
        """
        self._meter.show(self._tr(say("starting the engine")))
        return self._report(self._client.run(lab, params, seed=seed, device=self._device, language=language))

    def probe(self, file: str, source: str, name: str, text: str, seed: int) -> Report:
        """Return the report on a learner's own module or function; raise as `run` does."""
        self._meter.show(self._tr(say("starting the engine")))
        return self._report(self._client.probe(file, source, name, text, seed=seed))

    def view(self, file: str, data: bytes, name: str) -> Report:
        """Return the report on the tensors of a file; raise as `run` does."""
        self._meter.show(self._tr(say("starting the engine")))
        return self._report(self._client.view(file, data, name))

    def _report(self, number: int) -> Report:
        for reply in self._client.events(number):
            if isinstance(reply, Started):
                self._meter.show(self._tr(say("computing on {device}", device=reply.device)))
            elif isinstance(reply, Progress):
                self._meter.show(self._progress(reply))
            elif isinstance(reply, Finished):
                self._meter.clear()
                return reply.report
            elif isinstance(reply, Failed):
                self._meter.clear()
                raise failure(reply)
        raise EngineError(say("The engine gave no result."))

    def _progress(self, progress: Progress) -> str:
        text = f"{progress.fraction:4.0%}  {self._tr(progress.text)}"
        if progress.seconds_left is not None:
            text += "  " + self._tr(say("{seconds:.0f} s left", seconds=progress.seconds_left))
        return text


def failure(failed: Failed) -> UsageError | EngineError:
    """Return a failed run as the error of a command."""
    if failed.code in _OUR_INPUT:
        return UsageError(failed.message, failed.field, failed.code)
    return EngineError(failed.message, failed.field, failed.code)


class Meter:
    """One line on stderr that says what is going on; silent unless stderr is a terminal."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._shown = False

    def show(self, text: str) -> None:
        """Show `text` in place of what was shown."""
        if self._on:
            from tutor.text.width import clean, cut

            sys.stderr.write(f"\r{cut(clean(text), shutil.get_terminal_size().columns - 1)}\x1b[K")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

"""A learner's source becomes a module or a function to call; what is wrong with it becomes one sentence."""

from __future__ import annotations

import difflib
import inspect
import linecache
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from torch import nn

from engine.contract.message import Message, say
from engine.device import out_of_memory
from engine.probe.refusal import Refused

MODULE = "probed"  # the name the source runs under, so that `if __name__ == "__main__"` does not


@dataclass(frozen=True)
class Subject:
    """What is probed: its name, and the module or function itself."""

    name: str
    call: Callable[..., Any]

    @property
    def module(self) -> nn.Module | None:
        """The module, None for a function."""
        return self.call if isinstance(self.call, nn.Module) else None


def load(file: str, source: str, name: str) -> Subject:
    """Run `source` and return what `name` means in it; raise Refused."""
    found = _candidates(run(file, source))
    if not name:
        name = _only(file, found)
    if name not in found:
        raise Refused(_unknown(file, name, found), "name")
    thing = found[name]
    if isinstance(thing, type):
        thing = _built(file, name, thing)
    elif inspect.isfunction(thing) and not _required(thing):  # a function that builds a module
        made = guarded(file, thing)
        thing = made if isinstance(made, nn.Module) else thing
    if isinstance(thing, nn.Module) and not _has_forward(thing):
        raise Refused(say("{name} has no method forward.", name=name), "name")
    return Subject(name, thing)


def run(file: str, source: str) -> dict[str, Any]:
    """Run the source as a module and return its names."""
    shown = PurePath(file).name or "probe.py"
    try:
        code = compile(source, shown, "exec")
    except SyntaxError as error:
        raise Refused(
            say(
                "{file}, line {line}: {reason}.", file=shown, line=error.lineno or 0, reason=error.msg or "syntax error"
            )
        ) from None
    except ValueError as error:  # a NUL character
        raise Refused(say("{file} is not Python: {reason}.", file=shown, reason=str(error))) from None
    linecache.cache[shown] = (len(source), None, source.splitlines(keepends=True), shown)
    module = types.ModuleType(MODULE)
    module.__file__ = shown
    sys.modules[MODULE] = module
    guarded(file, lambda: exec(code, module.__dict__))
    return module.__dict__


def guarded(file: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what the learner's code returns; raise Refused with the line where it failed."""
    try:
        return call(*arguments, **options)
    except Refused:
        raise
    except MemoryError:
        raise
    except SystemExit:
        raise Refused(say("{file} ends the program by itself (sys.exit).", file=PurePath(file).name)) from None
    except KeyboardInterrupt:
        raise Refused(say("{file} interrupts itself.", file=PurePath(file).name)) from None
    except BaseException as error:
        if out_of_memory(error):
            raise
        raise Refused(failure(file, error)) from None


def failure(file: str, error: BaseException) -> Message:
    """Return in one sentence what a learner's code raised, and in which of its lines."""
    shown = PurePath(file).name or "probe.py"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == shown and frame.lineno]
    if isinstance(error, ModuleNotFoundError) and lines:
        return say(
            "{file}, line {line}: the engine has no module {module}; only this one file was sent to it.",
            file=shown,
            line=lines[-1],
            module=error.name or "?",
        )
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    if not lines:
        return say("{file}: {kind}: {reason}", file=shown, kind=type(error).__name__, reason=reason)
    return say(
        "{file}, line {line}: {kind}: {reason}", file=shown, line=lines[-1], kind=type(error).__name__, reason=reason
    )


def _candidates(names: dict[str, Any]) -> dict[str, Any]:
    """Return the modules, module classes and functions that the source itself defines."""
    found = {}
    for name, thing in names.items():
        own = getattr(thing, "__module__", None) == MODULE
        is_class = isinstance(thing, type) and issubclass(thing, nn.Module)
        if not name.startswith("__") and (
            (own and (is_class or inspect.isfunction(thing))) or isinstance(thing, nn.Module)
        ):
            found[name] = thing
    return found


def _only(file: str, found: dict[str, Any]) -> str:
    """Return the name that is meant when none was given: the only class of modules, module or function."""
    classes = [name for name, thing in found.items() if isinstance(thing, (type, nn.Module))]
    choice = classes or list(found)
    if len(choice) == 1:
        return choice[0]
    shown = PurePath(file).name
    if not choice:
        raise Refused(say("{file} defines no nn.Module and no function.", file=shown))
    names = ", ".join(choice[:12])
    raise Refused(say("{file} defines several: {names}; name one as {file}:NAME.", file=shown, names=names), "name")


def _unknown(file: str, name: str, found: dict[str, Any]) -> Message:
    shown = PurePath(file).name
    if close := difflib.get_close_matches(name, found, n=1):
        return say("There is no {name} in {file}; did you mean {close}?", name=name, file=shown, close=close[0])
    if not found:
        return say("There is no {name} in {file}, which defines no nn.Module and no function.", name=name, file=shown)
    names = ", ".join(list(found)[:12])
    return say("There is no {name} in {file}; there are: {names}.", name=name, file=shown, names=names)


def _built(file: str, name: str, kind: type) -> Any:
    if needed := _required(kind):
        message = say(
            "{name} cannot be built without {arguments}; give them defaults, or name a function that returns one.",
            name=name,
            arguments=", ".join(needed),
        )
        raise Refused(message, "name")
    return guarded(file, kind)


def _required(call: Callable[..., Any]) -> list[str]:
    """Return the parameters without a default."""
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(call).parameters.values()
    return [one.name for one in parameters if one.kind in plain and one.default is one.empty]


def _has_forward(module: nn.Module) -> bool:
    return type(module).forward is not nn.Module.forward

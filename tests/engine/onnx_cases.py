"""The operator test cases of the `onnx` package: expected numbers that nobody here computed."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch
from onnx.backend.test.case.node import collect_testcases
from torch import Tensor


class NotExpressible(Exception):
    """Raised for a case that asks for something our layers do not have; says what."""


@dataclass(frozen=True)
class Case:
    """One case: the operator's attributes, its inputs by position (None where left out), its outputs by position."""

    name: str
    attributes: Mapping[str, Any]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    def only(self, *known: str) -> None:
        """Raise NotExpressible when the case sets an attribute that is not among `known`."""
        for attribute in self.attributes:
            if attribute not in known:
                raise NotExpressible(f"{attribute} = {self.attributes[attribute]}")

    def input(self, position: int) -> Tensor | None:
        """Return an input as a tensor, or None when the case leaves it out."""
        return tensor(self.inputs[position]) if position < len(self.inputs) else None

    def given(self, position: int) -> Tensor:
        """Return an input that every case of the operator has."""
        found = self.input(position)
        assert found is not None
        return found

    def output(self, position: int) -> Tensor | None:
        """Return an expected output as a tensor, or None when the case does not ask for it."""
        return tensor(self.outputs[position]) if position < len(self.outputs) else None


def tensor(array: Any) -> Tensor | None:
    """Return a numpy array as a tensor; half precision is not compared."""
    if array is None:
        return None
    if array.dtype not in (np.float32, np.int64, np.int32, np.bool_):
        raise NotExpressible(f"{array.dtype}: we compare in float32")
    return torch.from_numpy(np.array(array))


@functools.cache
def cases(operator: str) -> tuple[Case, ...]:
    """Return every case whose graph is this one operator."""
    return tuple(
        _case(found)
        for found in _collected()
        if len(found.model.graph.node) == 1 and found.model.graph.node[0].op_type == operator
    )


@functools.cache
def _collected() -> tuple[Any, ...]:
    # An operator given to collect_testcases filters on the first call of a process only: collect all, then select.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(collect_testcases(None))


def _case(found: Any) -> Case:
    node = found.model.graph.node[0]
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    given, expected = found.data_sets[0]
    return Case(found.name, attributes, _placed(node.input, given), _placed(node.output, expected))


def _placed(names: Any, arrays: Any) -> tuple[Any, ...]:
    """Put the arrays at the positions of the names that are not empty."""
    remaining = iter(arrays)
    return tuple(next(remaining) if name else None for name in names)

"""Training runs on disk, in safetensors: written beside their place and renamed into it, so that none is ever half."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from engine.training.trainer import Trainer


@dataclass(frozen=True)
class Checkpoint:
    """A file for the trainers of one run; `about` says which run (lab, parameters, seed) and must agree to go on."""

    path: Path
    about: Mapping[str, str]

    def save(self, trainers: Sequence[Trainer[Any]]) -> None:
        """Write where the trainers are; a kill in the middle leaves the file that was there before."""
        tensors = {
            f"{number}.{name}": tensor.detach().cpu().clone()  # cloned: tied weights share memory, a file may not
            for number, trainer in enumerate(trainers)
            for name, tensor in trainer.state().items()
        }
        data = save(tensors, metadata=self._identity())
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)

    def load(self, trainers: Sequence[Trainer[Any]]) -> bool:
        """Bring the trainers to where the file has them; return False when it is missing, damaged or another run's."""
        try:
            with safe_open(self.path, framework="pt") as file:
                if file.metadata() != self._identity():
                    return False
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError):
            return False
        for number, trainer in enumerate(trainers):
            prefix = f"{number}."
            trainer.load({name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)})
        return True

    def _identity(self) -> dict[str, str]:
        return {**self.about, "torch": torch.__version__}

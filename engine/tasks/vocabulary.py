"""Words as numbers: a fixed table, padded batches, and which positions are real."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

PAD = 0


class Vocabulary:
    """Numbers `words`, in their order, after the padding 0; equal words in every process get equal numbers."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = ("<pad>", *words)
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Return the numbers of the sentences' words, padded with 0 at the end, (sentences, longest)."""
        longest = max(len(sentence) for sentence in sentences)
        rows = [[self.ids[word] for word in sentence] + [PAD] * (longest - len(sentence)) for sentence in sentences]
        return torch.tensor(rows)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the words of these numbers."""
        return [self.words[i] for i in ids]

"""The picture of an attention map too large to keep: exact weights, pooled to as many cells as a screen has.

A map of n = 16,384 has 268 million weights a head; a screen has some thousand cells. The queries are read in blocks:
scores, their softmax and its pooling share one buffer, so that memory grows as block · n, not as n². Under a causal
mask the keys behind the block are not even scored. Nothing is approximated: each cell is the maximum or the mean of the
weights it stands for, as if the whole map had been there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor

Pool = Literal["max", "mean"]

SCORES = 1 << 20  # in a block: 4 MiB in float32, which stay near the processor until they are pooled


@torch.no_grad()
def attention_picture(
    query: Tensor,
    key: Tensor,
    cells: int,
    *,
    pool: Pool = "max",
    causal: bool = False,
    scale: float | None = None,
    block: int | None = None,
) -> Tensor:
    """Return the weights of query (heads, n, d_k) and key (heads, m, d_k) pooled to at most `cells` rows and columns.

    The result is (heads, ⌈n/r⌉, ⌈m/c⌉); each entry pools r = ⌈n/cells⌉ queries and c = ⌈m/cells⌉ keys, fewer in the
    last row and column. With `causal` a query sees the keys up to its own position, and the rest count as weights of 0.
    `scale` is 1/√d_k unless given; `block` queries are read at a time, about a million scores. Raises ValueError when
    the shapes do not fit.
    """
    _check(query, key, cells, causal)
    heads, n, d_k = query.shape
    m = key.shape[1]
    scale = 1 / math.sqrt(d_k) if scale is None else scale
    tall, wide = math.ceil(n / cells), math.ceil(m / cells)  # what one cell stands for
    rows, columns = math.ceil(n / tall), math.ceil(m / wide)
    picture = query.new_zeros(heads, rows, columns)
    blocks = list(_blocks(n, tall, block or max(32, min(256, SCORES // m))))
    longest = max(stop - start for start, stop in blocks)
    buffer = query.new_empty(longest * columns * wide)
    future = query.new_full((longest, longest), -math.inf).triu(1) if causal else None
    for start, stop in blocks:
        seen = stop if causal else m
        width = math.ceil(seen / wide) * wide  # whole cells
        weights = buffer[: (stop - start) * width].view(stop - start, width)
        for head in range(heads):
            torch.mm(query[head, start:stop] * scale, key[head, :seen].T, out=weights[:, :seen])
            weights[:, seen:] = -math.inf
            if future is not None:
                weights[:, start:stop] += future[: stop - start, : stop - start]
            torch.softmax(weights, dim=-1, out=weights)
            block_cells = _pooled(weights, tall, wide, pool)
            first = start // tall
            target = picture[head, first : first + len(block_cells), : width // wide]
            if pool == "max":
                torch.maximum(target, block_cells, out=target)
            else:
                target += block_cells
    if pool == "mean":
        picture /= _sizes(n, tall, rows, picture)[:, None] * _sizes(m, wide, columns, picture)
    return picture


def _blocks(n: int, tall: int, block: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries of about `block`: whole cells, or equal parts of one cell that is larger."""
    if tall <= block:
        step = block // tall * tall
        yield from ((start, min(start + step, n)) for start in range(0, n, step))
        return
    part = math.ceil(tall / math.ceil(tall / block))
    for cell in range(0, n, tall):
        end = min(cell + tall, n)
        yield from ((start, min(start + part, end)) for start in range(cell, end, part))


def _pooled(weights: Tensor, tall: int, wide: int, pool: Pool) -> Tensor:
    """Return the maximum, or the sum, of every `tall` × `wide` cell; the last row of cells may be lower."""
    reduce = torch.amax if pool == "max" else torch.sum
    across = reduce(weights.view(len(weights), -1, wide), dim=-1)  # (queries, columns)
    whole = len(across) // tall * tall
    down = reduce(across[:whole].view(-1, tall, across.shape[1]), dim=1)
    return down if whole == len(across) else torch.cat([down, reduce(across[whole:], dim=0, keepdim=True)])


def _sizes(length: int, size: int, count: int, like: Tensor) -> Tensor:
    """Return how many positions each of `count` cells stands for."""
    sizes = like.new_full((count,), size)
    sizes[-1] = length - (count - 1) * size
    return sizes


def _check(query: Tensor, key: Tensor, cells: int, causal: bool) -> None:
    if query.dim() != 3 or key.dim() != 3 or query.shape[0] != key.shape[0] or query.shape[2] != key.shape[2]:
        raise ValueError(
            f"queries are {tuple(query.shape)} and keys {tuple(key.shape)}; both must be (heads, positions, d_k), "
            "of the same heads and d_k"
        )
    if min(query.shape[1], key.shape[1], cells) < 1:
        raise ValueError(f"{query.shape[1]} queries and {key.shape[1]} keys make no picture of {cells} cells")
    if causal and query.shape[1] != key.shape[1]:
        raise ValueError(f"a causal picture needs as many keys as queries, not {key.shape[1]} and {query.shape[1]}")

"""Counts the floating-point operations of what runs inside it, as torch.utils.flop_counter does: 2 a multiply-add.

Only products of matrices are counted, and only those that torch dispatches one by one: a fused kernel (nn.LSTM on the
CPU, scaled_dot_product_attention, the fast path of nn.TransformerEncoderLayer) is not in torch's table and counts 0.
On the meta device nothing is computed and the count is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class FlopCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sums the operations up in `total`."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.total: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Let the operation happen and add what it cost."""
        result = func(*args, **(kwargs or {}))
        if formula := flop_registry.get(func._overloadpacket):
            self.total += formula(*args, **(kwargs or {}), out_val=result)
        return result

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch's FlopCounterMode imports torch._dynamo here, which takes seconds and is not needed


def count_flops(work: Callable[[], object]) -> int:
    """Return the operations of `work()`."""
    counter = FlopCounter()
    with counter:
        work()
    return counter.total

"""The training loop and its parts: equal to torch where torch has them, repeatable, stoppable, resumable."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from engine.contract.message import say
from engine.contract.report import Note, Partial, Progress
from engine.labs.base import Cancelled
from engine.tasks.recall import recall
from engine.training import loop
from engine.training.accumulation import accumulate
from engine.training.adamw import AdamW
from engine.training.checkpoint import Checkpoint
from engine.training.clipping import clipped_at, gradient_norm
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.optimiser import Optimiser
from engine.training.schedules import constant, cosine, noam, warmed_up
from engine.training.sgd import SGD
from engine.training.trainer import Trainer

Batch = tuple[Tensor, Tensor]


def network(seed: int = 0, dropout: float = 0.0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Embedding(8, 8), nn.Flatten(), nn.Dropout(dropout), nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 4)
    )


def draw(number: int) -> list[Batch]:
    return [recall(torch.Generator().manual_seed(number), 16, 3)]


def trainer(
    model: nn.Module | None = None,
    optimiser: Callable[[nn.Module], Optimiser] = lambda model: AdamW(model.parameters()),
) -> Trainer[Batch]:
    used = network() if model is None else model

    def loss(batch: Batch) -> Loss:
        tokens, targets = batch
        return classification(used(tokens), targets)

    return Trainer(used, loss, optimiser(used), constant(1e-2))


def run(steps: int, *trainers: Trainer[Batch], **options: object) -> list[Progress | Partial]:
    return list(train(trainers, draw, steps, **{"check": lambda: None, **options}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            lambda parameters: AdamW(parameters, betas=(0.9, 0.98), weight_decay=0.1),
            lambda parameters: torch.optim.AdamW(parameters, 1e-2, betas=(0.9, 0.98), weight_decay=0.1),
        ),
        (AdamW, lambda parameters: torch.optim.Adam(parameters, 1e-2)),
        (SGD, lambda parameters: torch.optim.SGD(parameters, 1e-2)),
        (
            lambda parameters: SGD(parameters, momentum=0.9),
            lambda parameters: torch.optim.SGD(parameters, 1e-2, momentum=0.9),
        ),
    ],
    ids=["adamw", "adam", "sgd", "momentum"],
)
def test_an_optimiser_gives_the_very_losses_of_torchs(
    ours: Callable[..., Optimiser], theirs: Callable[..., torch.optim.Optimizer]
) -> None:
    mine = trainer(network().double(), lambda model: ours(model.parameters()))
    run(40, mine)
    model = network().double()
    reference = theirs(model.parameters())
    losses = []
    for number in range(1, 41):
        ((tokens, targets),) = draw(number)
        loss = nn.functional.cross_entropy(model(tokens), targets)
        reference.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        reference.step()
        losses.append(loss.item())
    assert mine.losses == pytest.approx(losses, rel=1e-12)
    assert losses[-1] < 0.95 * losses[0]


def test_adamw_is_torchs_to_the_last_bit_for_equal_gradients() -> None:
    generator = torch.Generator().manual_seed(0)
    ours, theirs = (nn.Parameter(torch.linspace(-1, 1, 300)) for _ in range(2))
    mine, reference = AdamW([ours], weight_decay=0.01), torch.optim.AdamW([theirs], 3e-3, weight_decay=0.01)
    for _ in range(50):
        ours.grad = torch.randn(300, generator=generator)
        theirs.grad = ours.grad.clone()
        mine.step(3e-3)
        reference.step()
    assert torch.equal(ours, theirs)


def test_the_optimisers_import_nothing_of_torch_optim() -> None:
    code = (
        "import sys; from engine.training import adamw, sgd, loop, checkpoint, curves;"
        'print("torch._dynamo" in sys.modules)'
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_parameter_that_no_loss_depends_on_is_named() -> None:
    with pytest.raises(ValueError, match=r"a parameter of shape \(3, 2\) has no gradient"):
        SGD([nn.Parameter(torch.zeros(3, 2))]).step(0.1)


def test_noam_rises_to_its_peak_and_halves_at_four_times_the_warm_up() -> None:
    rate = noam(16, 4)
    assert [rate(step) for step in (1, 2, 4, 16)] == pytest.approx([0.03125, 0.0625, 0.125, 0.0625], rel=1e-12)
    assert rate(9) == pytest.approx(0.25 / 3, rel=1e-12)
    paper = noam(512, 4000)
    assert paper(4000) == pytest.approx((512 * 4000) ** -0.5, rel=1e-12)
    assert max(range(1, 9000), key=paper) == 4000
    assert paper(0) == paper(1)


def test_cosine_falls_from_its_rate_to_0_and_a_warm_up_multiplies() -> None:
    rate = cosine(0.1, 101)
    assert [rate(step) for step in (1, 51, 101)] == pytest.approx([0.1, 0.05, 0.0], abs=1e-15)
    assert rate(500) == pytest.approx(0.0, abs=1e-15)
    warm = warmed_up(constant(0.2), 4)
    assert [warm(step) for step in (1, 2, 3, 4, 5)] == pytest.approx([0.05, 0.1, 0.15, 0.2, 0.2])
    assert warmed_up(rate, 0) is rate


def test_clipping_equals_torchs_and_leaves_small_gradients_untouched() -> None:
    parameters = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(2, 2))]
    large = [torch.tensor([3.0, 0.0, 4.0]), torch.tensor([[12.0, 0.0], [0.0, 0.0]])]
    for parameter, gradient in zip(parameters, large, strict=True):
        parameter.grad = gradient.clone()
    norm = nn.utils.clip_grad_norm_(parameters, 1.0)
    assert clipped_at(1.0)(large) == pytest.approx(norm.item()) == pytest.approx(13.0)
    assert gradient_norm(large) == pytest.approx(1.0, rel=1e-6)
    assert gradient_norm([torch.tensor([3e30, 4e30])]) == pytest.approx(5e30, rel=1e-6)  # no square overflows
    assert math.isnan(gradient_norm([torch.tensor([math.nan]), torch.tensor([math.inf])]))
    for parameter, gradient in zip(parameters, large, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, gradient, rtol=1e-5)
    before = [gradient.clone() for gradient in large]
    clipped_at(2.0)(large)
    assert all(torch.equal(one, other) for one, other in zip(large, before, strict=True))


@pytest.mark.parametrize("sizes", [(12,), (4, 4, 4), (6, 4, 2), (1, 11)])
def test_accumulated_parts_give_the_gradient_of_the_whole_batch(sizes: tuple[int, ...]) -> None:
    model = network().double()
    parameters = list(model.parameters())
    tokens, targets = recall(torch.Generator().manual_seed(1), 12, 3)
    nn.functional.cross_entropy(model(tokens), targets).backward()  # type: ignore[no-untyped-call]
    whole = [parameter.grad.clone() for parameter in parameters if parameter.grad is not None]
    parts = zip(tokens.split(sizes), targets.split(sizes), strict=True)  # type: ignore[no-untyped-call]
    mean = accumulate(lambda part: classification(model(part[0]), part[1]), parts, parameters)
    assert mean == pytest.approx(nn.functional.cross_entropy(model(tokens), targets).item(), rel=1e-12)
    for parameter, gradient in zip(parameters, whole, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, gradient, rtol=1e-12, atol=1e-14)


def test_padding_weighs_nothing_when_parts_are_put_together() -> None:
    logits = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[1, 2, 3, 4], [1, 0, 0, 0], [2, 2, 0, 0]])
    whole = classification(logits, targets, ignored=0, smoothing=0.1)
    parts = [classification(logits[i], targets[i], ignored=0, smoothing=0.1) for i in range(3)]
    assert whole.count == sum(part.count for part in parts) == 7
    assert whole.total.item() == pytest.approx(sum(part.total.item() for part in parts), rel=1e-6)
    reference = nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=0, label_smoothing=0.1
    )
    assert whole.total.item() / 7 == pytest.approx(reference.item(), rel=1e-6)


def test_dropout_depends_on_the_step_and_on_the_noise_alone() -> None:
    one, same = (trainer(network(dropout=0.5)) for _ in range(2))
    run(5, one)
    torch.manual_seed(99)
    run(5, same)
    assert one.losses == same.losses
    other = trainer(network(dropout=0.5))
    other.noise = 1
    run(5, other)
    assert other.losses != one.losses


def test_trainers_side_by_side_see_the_same_batches_and_stop_when_they_are_finished() -> None:
    alone, together, slow = trainer(), trainer(), trainer(network(1))
    run(30, alone)
    run(30, together, slow, finished=lambda t: t is slow and t.taken == 7)
    assert together.losses == alone.losses
    assert (together.taken, slow.taken) == (30, 7)


def test_the_loop_tells_how_far_it_is_with_panels_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "TELL_EVERY", 0.0)
    events = run(10, trainer(), panels=lambda: (Note("n", say("Loss")),))
    progress = [event for event in events if isinstance(event, Progress)]
    assert [event.fraction for event in progress] == pytest.approx([n / 10 for n in range(1, 11)])
    assert progress[-1].seconds_left == 0
    assert all(event.seconds_left is not None and event.seconds_left >= 0 for event in progress)
    assert str(progress[2].text) == "step 3 of 10"
    assert sum(isinstance(event, Partial) for event in events) == 10


def test_a_pause_does_not_count_as_time_of_the_run() -> None:
    def check() -> None:
        time.sleep(0.03)

    events = run(10, trainer(), check=check)
    assert not events  # 0.3 s have passed, but far less than 0.1 s of training


def test_a_cancelled_run_ends_before_the_next_step_and_goes_on_later(tmp_path: Path) -> None:
    whole = [trainer(network(seed)) for seed in (0, 1)]
    run(12, *whole)
    left = 11  # in the middle of step 6: the first trainer is one ahead

    def check() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Cancelled

    checkpoint = Checkpoint(tmp_path / "run", {"lab": "test"})
    stopped = [trainer(network(seed)) for seed in (0, 1)]
    with pytest.raises(Cancelled):
        run(12, *stopped, check=check, checkpoint=checkpoint)
    assert [t.taken for t in stopped] == [6, 5]
    resumed = [trainer(network(seed)) for seed in (2, 3)]
    run(12, *resumed, checkpoint=checkpoint)
    assert [t.losses for t in resumed] == [t.losses for t in whole]


def test_only_the_checkpoint_of_the_same_run_is_gone_on_with(tmp_path: Path) -> None:
    first = trainer()
    run(5, first, checkpoint=Checkpoint(tmp_path / "run", {"seed": "0"}))
    fresh = trainer()
    assert not Checkpoint(tmp_path / "run", {"seed": "1"}).load([fresh])
    assert not Checkpoint(tmp_path / "none", {"seed": "0"}).load([fresh])
    assert fresh.taken == 0
    (tmp_path / "half").write_bytes((tmp_path / "run").read_bytes()[:1000])
    assert not Checkpoint(tmp_path / "half", {"seed": "0"}).load([fresh])
    assert Checkpoint(tmp_path / "run", {"seed": "0"}).load([fresh])
    assert fresh.losses == first.losses
    assert all(map(torch.equal, fresh.model.parameters(), first.model.parameters()))


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint(tmp_path / "run", {})
    done = trainer()
    run(3, done, checkpoint=checkpoint)
    kept = (tmp_path / "run").read_bytes()

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done.step(draw(4))
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save([done])
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert (tmp_path / "run").read_bytes() == kept


SCRIPT = """
import sys, time
from pathlib import Path
import torch
from engine.training import loop
from engine.training.checkpoint import Checkpoint
from tests.engine.test_training import draw, network, trainer
loop.SAVE_EVERY = 0.0
torch.set_num_threads(1)
path, slow = Path(sys.argv[1]), float(sys.argv[2])
runner = trainer(network(dropout=0.2))
for _ in loop.train([runner], draw, 60, check=lambda: time.sleep(slow), checkpoint=Checkpoint(path, {})):
    pass
print(runner.losses)
"""


def start(path: Path, slow: float) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": str(random.randrange(1000))}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), str(slow)], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_a_run_that_is_killed_anywhere_and_resumed_ends_like_one_that_was_not(tmp_path: Path) -> None:
    undisturbed, _ = start(tmp_path / "whole", 0.0).communicate()
    killed = start(tmp_path / "killed", 0.02)
    while not (tmp_path / "killed").exists():
        time.sleep(0.01)
    time.sleep(random.uniform(0.0, 0.8))
    killed.kill()
    killed.communicate()
    resumed, _ = start(tmp_path / "killed", 0.0).communicate()
    assert resumed == undisturbed  # bit for bit: the losses are printed in full
    assert len(undisturbed.split()) == 60


def test_curves_have_gaps_where_nothing_finite_has_happened() -> None:
    panel = loss_curves([(say("Loss"), [1.0, math.inf])], 4, levels=[(say("chance"), 1.5)])
    first, level = (list(series.y.flat()) for series in panel.series)
    assert first[0] == 1.0
    assert all(math.isnan(value) for value in first[1:])
    assert level == [1.5] * 4
    assert list(panel.x.flat()) == [1.0, 2.0, 3.0, 4.0]

"""Looking into a learner's own code: what is seen of it, and one sentence for everything that can be wrong."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from engine.contract.protocol import Probe
from engine.contract.report import Heatmap, Note, Report, Table
from engine.labs.base import Context
from engine.probe.inputs import candidates
from engine.probe.load import load
from engine.probe.model import probe
from engine.probe.refusal import Refused
from engine.probe.watch import looks_like_attention, watching
from tests.engine.reports import heatmap, number, table

WORDS = "the cat sat down"

CAUSAL = """
import math, torch
from torch import nn

class Causal(nn.Module):
    def __init__(self, vocabulary=50, width=8):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.idle = nn.Linear(2, 2)

    def forward(self, tokens):
        x = self.table(tokens)
        scores = self.query(x) @ self.key(x).transpose(-1, -2) / math.sqrt(8)
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ self.value(x)
"""
ENCODER = """
from torch import nn
def make():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, dropout=0.5, batch_first=True), 2)
"""


def look(source: str, name: str = "", text: str = WORDS, seed: int = 0) -> Report:
    return probe(Probe(1, "my.py", source, name, text, seed))


def refusal(source: str, name: str = "", text: str = WORDS) -> str:
    with pytest.raises(Refused) as caught:
        look(source, name, text)
    return str(caught.value.message)


def notes(report: Report) -> dict[str, str]:
    return {panel.id: str(panel.text) for panel in report.panels if isinstance(panel, Note)}


def test_the_parts_of_a_module_are_listed_with_shapes_and_parameters() -> None:
    report = look(CAUSAL)
    rows = {row[0]: row[1:] for row in table(report, "modules").rows}
    assert rows["Causal"] == ("Causal", "(1, 4, 8)", 50 * 8 + 3 * 72 + 6)
    assert rows["query"] == ("Linear", "(1, 4, 8)", 72)
    assert rows["idle"] == ("Linear", "–", 6)
    assert number(report, "parameters") == 50 * 8 + 3 * 72 + 6
    assert notes(report)["input"] == "It read token numbers (1, 4), below 50 and returned (1, 4, 8)."


def test_attention_written_out_in_forward_is_found_with_the_words_on_it() -> None:
    report = look(CAUSAL)
    picture = heatmap(report, "map-1-1")
    assert picture.row_labels == ("the", "cat", "sat", "down")
    assert report.values["attention_maps"] == 1
    for index, row in enumerate(picture.values.rows()):
        assert sum(row) == pytest.approx(1, abs=1e-6)
        assert row[index + 1 :] == [0.0] * (3 - index)


def test_attention_inside_torchs_own_layers_is_found_though_they_return_none() -> None:
    report = look(ENCODER)
    maps = [panel for panel in report.panels if isinstance(panel, Heatmap)]
    assert len(maps) == 2 * 4
    assert {str(panel.title) for panel in maps} >= {"layers.0.self_attn, map 1", "layers.1.self_attn, map 4"}
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for panel in maps for row in panel.values.rows())


def test_the_maps_of_a_torch_layer_are_those_it_returns_when_asked() -> None:
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.randn(1, 5, 8)
    _, wanted = layer(x, x, x, average_attn_weights=False)
    with watching(layer) as seen:
        layer(x, x, x, need_weights=False)
    (found,) = seen.maps
    assert torch.allclose(found.weights, wanted[0], atol=1e-6)


def test_gradients_are_those_of_autograd_and_an_idle_part_has_none() -> None:
    report = look(CAUSAL, seed=4)
    torch.manual_seed(4)
    module = load("my.py", CAUSAL, "").module
    assert module is not None
    (inputs, *_) = candidates(module, WORDS.split(), 4)
    module(*inputs.arguments).square().mean().backward()
    rows = {row[0]: row[1:] for row in table(report, "gradients").rows}
    for name, weight in module.named_parameters():
        shape, size, gradient = rows[name]
        assert shape == str(tuple(weight.shape))
        assert size == pytest.approx(weight.norm().item(), rel=1e-6)
        if weight.grad is None:
            assert str(gradient) == "no gradient"
        else:
            assert gradient == pytest.approx(weight.grad.norm().item(), rel=1e-5, abs=1e-12)
    assert number(report, "without_gradient") == 2


def test_a_causal_module_is_told_from_one_that_sees_what_comes_later() -> None:
    assert look(CAUSAL).values["sees_later_tokens"] is False
    assert look(ENCODER).values["sees_later_tokens"] is True
    assert notes(look(ENCODER))["causal"].startswith("The last token changes the outputs before it")


def test_a_function_reads_vectors_for_every_parameter_and_no_mask() -> None:
    source = (
        "import torch\ndef attention(query, key, value, mask):\n    assert mask is None\n"
        "    return torch.softmax(query @ key.transpose(-1, -2), -1) @ value, 3"
    )
    report = look(source)
    assert report.values["attention_maps"] == 1
    assert notes(report)["input"] == "It read one vector a token, (1, 4, 16) and returned (1, 4, 16)."
    assert table(report, "gradients").rows[0][0] == "input 1"
    assert not [panel for panel in report.panels if isinstance(panel, Table) and panel.id == "modules"]


def test_what_takes_no_batch_is_given_none() -> None:
    report = look("def f(x):\n    n, d = x.shape\n    return x * 2")
    assert report.values["output_shape"] == [4.0, 16.0]


def test_the_width_is_read_off_the_modules_own_parts() -> None:
    report = look("from torch import nn\nmodel = nn.GRU(12, 5, batch_first=True)")
    assert report.values["output_shape"] == [1.0, 4.0, 5.0]


def test_dropout_is_off_so_that_the_same_input_gives_the_same_output() -> None:
    (invariant,) = look(ENCODER).invariants
    assert invariant.holds is True
    (invariant,) = look("import torch\ndef f(x): return x + torch.rand(1)").invariants
    assert invariant.holds is False


def test_the_same_seed_builds_the_same_weights() -> None:
    assert table(look(CAUSAL, seed=1), "gradients") == table(look(CAUSAL, seed=1), "gradients")
    assert table(look(CAUSAL, seed=1), "gradients") != table(look(CAUSAL, seed=2), "gradients")


def test_what_the_code_prints_is_shown_and_not_without_end() -> None:
    report = look("print('built')\ndef f(x):\n    print('called ' * 10000)\n    return x")
    assert notes(report)["printed"].startswith("It printed: built ⏎ called called")
    assert len(notes(report)["printed"]) < 5000


def test_every_report_says_what_the_limits_are_worth() -> None:
    assert notes(look(CAUSAL))["limits"].endswith("this guards against accidents, not malice.")


def test_numbers_that_are_not_finite_are_a_result() -> None:
    report = look("def f(x): return x / 0")
    assert report.values["output_finite"] is False
    assert report.invariants[0].holds is True


SENTENCES = [
    ("x = (", "", "my.py, line 1: '(' was never closed."),
    ("x = 1\nimport no_such_thing", "", "my.py, line 2: the engine has no module no_such_thing; only this one file"),
    ("raise ValueError('a\\nb')", "", "my.py, line 1: ValueError: a b"),
    ("def f(x):\n    return x.nope", "", "f cannot read one vector a token, (1, 4, 16): my.py, line 2: AttributeError"),
    ("", "", "my.py defines no nn.Module and no function."),
    ("def f(x): ...\ndef g(x): ...", "", "my.py defines several: f, g; name one as my.py:NAME."),
    ("def attend(x): ...", "atend", "There is no atend in my.py; did you mean attend?"),
    ("x = 3", "f", "There is no f in my.py, which defines no nn.Module and no function."),
    ("from torch import nn\nclass A(nn.Module): ...", "", "A has no method forward."),
    (
        "from torch import nn\nclass A(nn.Module):\n    def __init__(self, width, heads=2): ...",
        "",
        "A cannot be built without width; give them defaults, or name a function that returns one.",
    ),
    ("def f(x): return 3", "", "f returned int; it must return a tensor of real numbers, or a tuple with one."),
    ("import sys\nsys.exit(1)", "", "my.py ends the program by itself (sys.exit)."),
    (
        "from torch import nn\nmodel = nn.Sequential(nn.Linear(4, 5), nn.Linear(6, 7))",
        "",
        "model cannot read one vector a token, (1, 4, 4): my.py: RuntimeError: mat1 and mat2 shapes cannot be",
    ),
    ("x = '\0'", "", "my.py"),
]


@pytest.mark.parametrize(("source", "name", "sentence"), SENTENCES)
def test_every_fault_of_the_code_is_one_sentence(source: str, name: str, sentence: str) -> None:
    message = refusal(source, name)
    assert message.startswith(sentence)
    assert "\n" not in message


def test_a_text_without_words_to_compare_is_refused() -> None:
    assert refusal(CAUSAL, text="cat") == "text has 1 token (“cat”), but at least 2 are needed to compare them."
    assert "at most 64" in refusal(CAUSAL, text="a " * 65)


def test_chinese_is_read_character_by_character() -> None:
    assert heatmap(look(CAUSAL, text="我爱猫"), "map-1-1").row_labels == ("我", "爱", "猫")


def test_the_block_that_guards_a_main_program_does_not_run() -> None:
    assert look("def f(x): return x\nif __name__ == '__main__':\n    raise SystemExit").values["name"] == "f"


def test_a_dataclass_and_an_import_of_torch_are_no_candidates() -> None:
    source = (
        "from dataclasses import dataclass\nfrom torch.nn import Linear, Module\nfrom math import sqrt\n"
        "@dataclass\nclass Sizes:\n    d: int = 4\nclass Net(Module):\n    def __init__(self):\n"
        "        super().__init__(); self.layer = Linear(Sizes().d, 3)\n    def forward(self, x): return self.layer(x)"
    )
    assert look(source).values["name"] == "Net"


@pytest.mark.parametrize(
    ("tensor", "is_one"),
    [
        (torch.softmax(torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0)), -1), True),
        (torch.eye(4), True),
        (torch.tensor([[1.0, 0.0], [0.0, 0.0]]), True),  # the second query sees nothing
        (torch.zeros(3, 3), False),
        (torch.ones(1, 1), False),
        (torch.full((2, 3), 1 / 3), False),
        (torch.tensor([[2.0, -1.0], [0.5, 0.5]]), False),
        (torch.ones(3, 3, dtype=torch.long), False),
        (torch.full((2, 2), math.nan), False),
        (torch.rand(3, 3, generator=torch.Generator().manual_seed(0)), False),
    ],
)
def test_attention_is_a_square_of_weights_whose_rows_sum_to_one(tensor: Tensor, is_one: bool) -> None:
    assert looks_like_attention(tensor) is is_one


def test_many_maps_are_cut_and_counted() -> None:
    source = (
        "import torch\ndef f(x):\n    for i in range(30): torch.softmax(x @ x.mT + i * x[..., :4], -1)\n    return x"
    )
    report = look(source)
    assert report.values["attention_maps"] == 30
    assert notes(report)["more-maps"] == "6 more maps are left out."


def test_token_numbers_are_the_same_in_every_process() -> None:
    (inputs, *_) = candidates(nn.Sequential(nn.Embedding(1000, 4)), ["cat", "猫", "cat"], 0)
    assert inputs.arguments[0].tolist() == [[832, 304, 832]]
    vectors = next(candidates(nn.Linear(6, 2), ["cat"], 5)).arguments[0]
    assert torch.equal(vectors[0], Context(seed=5).word_vectors(["cat"], 6).float())

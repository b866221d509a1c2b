"""The whole models: against torch.nn, teacher forcing against one token at a time, cache against none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.activations import gelu_tanh
from engine.layers.attention import causal_mask
from engine.layers.bert import BERT, MaskedWordHead, Pooler
from engine.layers.decoding import generate, greedy, sampled
from engine.layers.gpt import GPT
from engine.layers.multi_head import KeyValues, MultiHeadAttention, merge_heads
from engine.layers.positional import sinusoidal
from engine.layers.residual import Order, post_norm, pre_norm
from engine.layers.t5 import T5
from engine.layers.transformer import Transformer
from tests.engine.agreement import agreement, seeded
from tests.engine.twins import copy_decoder_block, copy_encoder_block, copy_norm, scramble

float64 = torch.float64
SOURCE = torch.tensor([[3, 1, 4, 1, 5], [2, 7, 1, 0, 0]])
KEPT = torch.tensor([[True] * 5, [True, True, True, False, False]])
TARGET = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])


def transformer(order: Order = post_norm, **options: Any) -> Transformer:
    return Transformer(9, 11, 16, 4, 2, 24, order=order, generator=seeded(0), **options).double()


def t5() -> T5:
    return T5(11, 16, heads=2, d_k=6, layers=2, inner=24, generator=seeded(0)).double()


def gpt() -> GPT:
    model = GPT(11, 16, heads=2, layers=2, length=12, generator=seeded(0)).double()
    scramble(model, seeded(1))
    return model


@pytest.mark.parametrize("order", [post_norm, pre_norm])
def test_transformer_equals_torch(order: Order) -> None:
    ours = transformer(order)
    pre = order is pre_norm
    encoder = nn.TransformerEncoderLayer(16, 4, 24, 0.0, batch_first=True, norm_first=pre, dtype=float64)
    decoder = nn.TransformerDecoderLayer(16, 4, 24, 0.0, batch_first=True, norm_first=pre, dtype=float64)
    norms = [nn.LayerNorm(16, dtype=float64) if pre else None for _ in range(2)]
    twin = nn.Transformer(
        16,
        batch_first=True,
        custom_encoder=nn.TransformerEncoder(encoder, 2, norms[0], enable_nested_tensor=False),
        custom_decoder=nn.TransformerDecoder(decoder, 2, norms[1]),
    )
    scramble(twin, seeded(2))
    for block, layer in zip(ours.encoder.blocks, twin.encoder.layers, strict=True):
        copy_encoder_block(block, layer)  # type: ignore[arg-type]
    for block, layer in zip(ours.decoder.blocks, twin.decoder.layers, strict=True):
        copy_decoder_block(block, layer)  # type: ignore[arg-type]
    if pre:
        for stack, norm in zip((ours.encoder, ours.decoder), norms, strict=True):
            copy_norm(stack.final_norm, norm)  # type: ignore[arg-type]
    embedded = [
        F.embedding(tokens, table.weight) * 4 + sinusoidal(tokens.shape[1], 16)
        for tokens, table in ((SOURCE, ours.source_table), (TARGET, ours.target_table))
    ]
    states = twin(*embedded, tgt_mask=~causal_mask(4), src_key_padding_mask=~KEPT, memory_key_padding_mask=~KEPT)
    with agreement(f"torch.nn.Transformer, {order.__name__}") as agree:  # type: ignore[attr-defined]
        agree(ours(SOURCE, TARGET, KEPT)[0], states @ ours.target_table.weight.T)


def test_gpt_equals_torch() -> None:
    ours = gpt()
    layer = nn.TransformerEncoderLayer(16, 2, 64, 0.0, gelu_tanh, batch_first=True, norm_first=True, dtype=float64)
    twin = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16, dtype=float64), enable_nested_tensor=False)
    scramble(twin, seeded(2))
    for block, copied in zip(ours.blocks.blocks, twin.layers, strict=True):
        copy_encoder_block(block, copied)  # type: ignore[arg-type]
    copy_norm(ours.blocks.final_norm, twin.norm)  # type: ignore[arg-type]
    embedded = ours.token_table.weight[TARGET] + ours.positions.table.weight[:4]
    with agreement("torch.nn.TransformerEncoder as a GPT") as agree:
        agree(ours(TARGET)[0], twin(embedded, mask=~causal_mask(4)) @ ours.token_table.weight.T)


def test_bert_equals_torch() -> None:
    ours = BERT(9, 16, heads=2, layers=2, length=8, generator=seeded(0)).double()
    layer = nn.TransformerEncoderLayer(16, 2, 64, 0.0, "gelu", 1e-12, batch_first=True, dtype=float64)
    twin = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    scramble(twin, seeded(2))
    for block, copied in zip(ours.blocks.blocks, twin.layers, strict=True):
        copy_encoder_block(block, copied)  # type: ignore[arg-type]
    sentence = torch.tensor([0, 0, 1, 1, 1])
    summed = (
        F.embedding(SOURCE, ours.token_table.weight) + ours.positions.table.weight[:5] + ours.sentence_table(sentence)
    )
    embedded = F.layer_norm(summed, (16,), eps=1e-12)
    states, _ = ours(SOURCE, sentence, KEPT)
    with agreement("torch.nn.TransformerEncoder as a BERT") as agree:
        agree(states[KEPT], twin(embedded, src_key_padding_mask=~KEPT)[KEPT])
        pooler = Pooler(16).double()
        agree(pooler(states), torch.tanh(F.linear(states[:, 0], pooler.dense.weight, pooler.dense.bias)))
        head = MaskedWordHead(ours).double()
        scramble(head, seeded(3))
        dense = F.gelu(F.linear(states, head.dense.weight, head.dense.bias))
        normalized = F.layer_norm(dense, (16,), head.norm.gain, head.norm.bias, 1e-12)
        agree(head(states), F.linear(normalized, ours.token_table.weight, head.word_bias))


def fused_attention(
    layer: MultiHeadAttention, inputs: Tensor, memory: Tensor, mask: Tensor | None, bias: Tensor
) -> Tensor:
    """T5's attention by torch's fused function: no scale, the bias and the mask as one float mask."""
    query, key, value = (
        F.linear(x, w).reshape(*x.shape[:-1], layer.heads, -1).transpose(-3, -2)
        for x, w in ((inputs, layer.query_weight), (memory, layer.key_weight), (memory, layer.value_weight))
    )
    added = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    return F.linear(
        merge_heads(F.scaled_dot_product_attention(query, key, value, added, scale=1.0)), layer.output_weight
    )


def test_t5_equals_the_functions_of_torch() -> None:
    ours = t5()
    scramble(ours, seeded(1))

    def norm(x: Tensor, layer: Any) -> Tensor:
        return F.rms_norm(x, (16,), layer.gain, 1e-6)

    def think(x: Tensor, block: Any) -> Tensor:
        inner = F.relu(F.linear(norm(x, block.feed_forward_norm), block.feed_forward.expand.weight))
        return x + F.linear(inner, block.feed_forward.contract.weight)

    kept, causal = KEPT[:, None, None, :], causal_mask(4)
    memory, stream = ours.table.weight[SOURCE], ours.table.weight[TARGET]
    bias = ours.encoder_bias(5, 5).expand(2, -1, -1, -1)
    for block in ours.encoder.blocks:
        normalized = norm(memory, block.attention_norm)
        memory = think(memory + fused_attention(block.attention, normalized, normalized, kept, bias), block)  # type: ignore[arg-type]
    memory = norm(memory, ours.encoder.final_norm)
    for block in ours.decoder.blocks:
        normalized = norm(stream, block.self_attention_norm)
        past = ours.decoder_bias(4, 4)
        stream = stream + fused_attention(block.self_attention, normalized, normalized, causal, past)  # type: ignore[arg-type]
        normalized = norm(stream, block.cross_attention_norm)
        nothing = torch.zeros(2, 1, 1, 5, dtype=float64)
        stream = think(stream + fused_attention(block.cross_attention, normalized, memory, kept, nothing), block)  # type: ignore[arg-type]
    with agreement("T5 from torch.nn.functional") as agree:
        agree(ours(SOURCE, TARGET, KEPT)[0], norm(stream, ours.decoder.final_norm) / 4 @ ours.table.weight.T)


ENCODER_DECODERS: dict[str, Callable[[], Any]] = {
    "post": transformer,
    "pre": lambda: transformer(pre_norm),
    "T5": t5,
}


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_teacher_forcing_equals_one_token_at_a_time_with_and_without_cache(name: str) -> None:
    model = ENCODER_DECODERS[name]()
    logits, _ = model(SOURCE, TARGET, KEPT)
    step, cache = model.writer(SOURCE, KEPT), None
    for length in range(1, 5):
        cached, cache = step(TARGET[:, length - 1 : length], cache)
        whole, _ = step(TARGET[:, :length], None)
        for found in (cached, whole):
            torch.testing.assert_close(found, logits[:, length - 1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_padding_of_the_source_changes_nothing(name: str) -> None:
    model = ENCODER_DECODERS[name]()
    short, _ = model(SOURCE[1:, :3], TARGET[1:])
    padded, _ = model(SOURCE[1:], TARGET[1:], KEPT[1:])
    torch.testing.assert_close(padded, short, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_later_target_tokens_do_not_change_earlier_logits_at_all(name: str) -> None:
    model, changed = ENCODER_DECODERS[name](), TARGET.clone()
    changed[:, 3] = 0
    before, after = model(SOURCE, TARGET)[0], model(SOURCE, changed)[0]
    assert torch.equal(before[:, :3], after[:, :3])
    assert (before[:, 3] - after[:, 3]).abs().max() > 1e-3


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_greedy_decoding_is_the_argmax_of_the_full_forward(name: str) -> None:
    model, start = ENCODER_DECODERS[name](), torch.tensor([[1], [2]])
    written = torch.stack(list(generate(model.writer(SOURCE, KEPT), start, 6, greedy)), -1)
    text = torch.cat((start, written), -1)
    assert torch.equal(model(SOURCE, text[:, :-1], KEPT)[0].argmax(-1), written)


def test_without_positions_the_order_of_the_source_does_not_matter() -> None:
    order = torch.tensor([2, 0, 4, 1, 3])
    for positions in (True, False):
        model = transformer(positions=positions)
        difference = (model(SOURCE, TARGET)[0] - model(SOURCE[:, order], TARGET)[0]).abs().max().item()
        assert (difference <= 1e-12) is not positions


def test_gpt_greedy_decoding_is_the_argmax_of_the_full_forward_with_and_without_cache() -> None:
    model, prompt = gpt(), torch.tensor([[1, 2, 3], [3, 2, 1]])
    for cached in (True, False):
        written = torch.stack(list(generate(model.step, prompt, 9, greedy, cached=cached)), -1)
        text = torch.cat((prompt, written), -1)
        assert torch.equal(model(text[:, :-1])[0][:, 2:].argmax(-1), written)


def test_gpt_sampling_is_the_same_with_and_without_cache() -> None:
    model, prompt = gpt(), torch.tensor([1, 2])
    texts = [
        torch.stack(list(generate(model.step, prompt, 8, sampled(generator=seeded(4)), cached=cached)))
        for cached in (True, False)
    ]
    assert torch.equal(*texts)


def test_the_cache_holds_the_keys_and_values_of_the_whole_text() -> None:
    model = gpt()
    whole, full = model(TARGET)
    _, first = model(TARGET[:, :3])
    last, second = model(TARGET[:, 3:], first.blocks.cache)
    torch.testing.assert_close(last, whole[:, 3:], rtol=1e-10, atol=1e-12)
    for grown, kept in zip(second.blocks.cache, full.blocks.cache, strict=True):
        assert isinstance(grown, KeyValues)
        torch.testing.assert_close((grown.key, grown.value), (kept.key, kept.value), rtol=1e-10, atol=1e-12)


def test_gpt_refuses_a_text_longer_than_its_positions() -> None:
    with pytest.raises(ValueError, match="the text has 13 tokens, but only 12 positions have been learned"):
        gpt()(torch.zeros(1, 13, dtype=torch.long))


def test_an_untrained_gpt_guesses_evenly() -> None:
    model = GPT(27, 32, heads=4, layers=2, length=16, generator=seeded(0))
    log_probabilities = model(torch.arange(16)[None])[0].log_softmax(-1)
    entropy = -(log_probabilities.exp() * log_probabilities).sum(-1)
    assert entropy.min() > 0.99 * math.log(27)


@pytest.mark.parametrize("build", [transformer, t5, gpt])
def test_the_same_seed_builds_the_same_model(build: Callable[[], nn.Module]) -> None:
    one, other = build(), build()
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_building_a_model_from_a_generator_leaves_the_global_one_alone() -> None:
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    transformer()
    GPT(11, 16, heads=2, layers=2, length=12, generator=seeded(0))
    bert = BERT(9, 16, heads=2, layers=2, length=8, generator=seeded(0))
    MaskedWordHead(bert, generator=seeded(0))
    Pooler(16, generator=seeded(0))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_t5_scores_start_as_small_as_scaled_ones() -> None:
    model = T5(50, 64, heads=4, d_k=16, layers=1, inner=64, generator=seeded(0))
    _, trace = model.encode(torch.randint(0, 50, (4, 20), generator=seeded(1)))
    assert 0.5 < trace.blocks[0].attention.products.std() < 2.0


def test_dropout_of_a_model_in_eval_mode_is_off() -> None:
    model = transformer(dropout=0.4)
    model.train()
    assert not torch.equal(model(SOURCE, TARGET)[0], model(SOURCE, TARGET)[0])
    model.eval()
    torch.testing.assert_close(model(SOURCE, TARGET)[0], transformer()(SOURCE, TARGET)[0])

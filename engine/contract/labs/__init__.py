"""The labs there are, in the order of the course. A declaration is imported when it is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module

from engine.contract.declarations import Lab
from engine.contract.message import Message, say

MODULES = {
    "tokens": "tokens",
    "activations": "activations",
    "backprop": "backprop",
    "rnn-step": "rnn_step",
    "jacobian": "jacobian",
    "clip": "clip",
    "lstm-step": "lstm_step",
    "lstm-highway": "lstm_highway",
    "gru-conventions": "gru_conventions",
    "recall-race": "recall_race",
    "additive-attention": "additive_attention",
    "seq2seq": "seq2seq",
    "sdpa": "sdpa",
    "sqrt-dk": "sqrt_dk",
    "shuffle": "shuffle",
    "heads": "heads",
    "sinusoid": "sinusoid",
    "pe-race": "pe_race",
    "layernorm": "layernorm",
    "norm-order": "norm_order",
    "encoder": "encoder",
    "masks": "masks",
    "enc-dec": "enc_dec",
    "train-tricks": "train_tricks",
    "classifier": "classifier",
    "cost": "cost",
    "families": "families",
    "bert-vs-gpt": "bert_vs_gpt",
    "char-gpt": "char_gpt",
    "long-context": "long_context",
}


class UnknownLab(LookupError):
    """Raised for a lab name that does not exist; `message` says what does."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


def names() -> tuple[str, ...]:
    """Return the names of all labs in course order."""
    return tuple(MODULES)


def declaration(name: str) -> Lab:
    """Return the declaration of the lab called `name`; raise UnknownLab with the nearest name."""
    if name not in MODULES:
        close = difflib.get_close_matches(name, MODULES, n=1, cutoff=0.5)
        if close:
            raise UnknownLab(say("There is no lab “{name}”; did you mean “{close}”?", name=name[:40], close=close[0]))
        raise UnknownLab(say("There is no lab “{name}”; `tutor labs` lists them.", name=name[:40]))
    lab: Lab = import_module(f"engine.contract.labs.{MODULES[name]}").LAB
    return lab

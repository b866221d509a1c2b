"""Operations, memory and weights of one layer as formulas (2 operations a multiply-add, d_in = H = d, d_ff = e·d).

    projections 8nd²   scores 2n²d   mixing 2n²d   feed-forward 4n·d·d_ff
    RNN 4nd²   GRU 12nd²   LSTM 16nd²

Softmax, norms, activations and biases are left out: they grow as n·d or n², without the second factor d.
"""

from __future__ import annotations

from dataclasses import dataclass

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Layer:
    """A layer of width d with `heads` heads on n tokens; `expansion` is d_ff / d."""

    n: int
    d: int
    expansion: int = 4
    heads: int = 4

    @property
    def projections(self) -> int:
        """Q, K, V and the output projection."""
        return 8 * self.n * self.d**2

    @property
    def scores(self) -> int:
        """Q Kᵀ of all heads together; the number of heads does not matter."""
        return 2 * self.n**2 * self.d

    @property
    def mixing(self) -> int:
        """The weights times V."""
        return 2 * self.n**2 * self.d

    @property
    def core(self) -> int:
        """What attention itself costs: scores and mixing."""
        return self.scores + self.mixing

    @property
    def feed_forward(self) -> int:
        """Both matrices of the feed-forward network."""
        return 4 * self.n * self.d * self.expansion * self.d

    @property
    def encoder(self) -> int:
        """The whole encoder layer."""
        return self.projections + self.core + self.feed_forward

    @property
    def rnn(self) -> int:
        """A simple recurrent layer: two matrices a step."""
        return 4 * self.n * self.d**2

    @property
    def gru(self) -> int:
        """Three gates' worth of an RNN."""
        return 3 * self.rnn

    @property
    def lstm(self) -> int:
        """Four gates' worth of an RNN."""
        return 4 * self.rnn

    @property
    def score_bytes(self) -> int:
        """The score matrices of all heads in float32."""
        return self.heads * self.n**2 * FLOAT

    @property
    def naive_bytes(self) -> int:
        """What one head holds at once when scores and weights are both kept."""
        return 2 * self.n**2 * FLOAT

    @property
    def cache_bytes(self) -> int:
        """Keys and values of n tokens, for generation."""
        return 2 * self.n * self.d * FLOAT

    @property
    def shared_cache_bytes(self) -> int:
        """The cache when all heads share one head of keys and values (multi-query attention)."""
        return self.cache_bytes // self.heads

    @property
    def rnn_state_bytes(self) -> int:
        """What an RNN remembers while it generates."""
        return self.d * FLOAT

    @property
    def lstm_state_bytes(self) -> int:
        """Hidden state and cell."""
        return 2 * self.d * FLOAT


def crossings(d: int, expansion: int) -> dict[str, int]:
    """Return the length n at which the attention core costs as much as something else."""
    return {
        "projections": 2 * d,
        "feed_forward": (2 + expansion) * d,  # projections and feed-forward together
        "rnn": d,
        "lstm": 4 * d,
    }


def weights(d: int, expansion: int) -> dict[str, int]:
    """Return how many numbers each layer learns, biases and norms included (two biases in recurrent layers)."""
    attention = 4 * (d * d + d)
    feed_forward = 2 * expansion * d * d + expansion * d + d
    norm = 2 * d
    recurrent = 2 * d * d + 2 * d
    return {
        "rnn": recurrent,
        "gru": 3 * recurrent,
        "lstm": 4 * recurrent,
        "encoder": attention + feed_forward + 2 * norm,
        "decoder": 2 * attention + feed_forward + 3 * norm,
        "feed_forward": feed_forward,
    }

"""Framing: any chunking, any noise before the preamble, nothing that is no message."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.contract.message import say
from engine.contract.protocol import (
    LARGEST_FRAME,
    LONGEST_NOISE,
    PREAMBLE,
    PROTOCOL,
    Cancel,
    Close,
    Decoder,
    Device,
    Devices,
    Failed,
    Finished,
    FramingError,
    Hello,
    Log,
    Pause,
    Probe,
    ProtocolMismatch,
    Ready,
    Reply,
    Request,
    Resume,
    Run,
    Started,
    View,
    encode,
)
from engine.contract.report import Array, Heatmap, Partial, Progress, Report

HEATMAP = Heatmap(
    "weights",
    say("weights of {name}", name="今天"),
    Array("float64", (1, 2), bytes(16)),
    ("今天",),
    ("天气", "🙂"),
    say("queries"),
    say("keys"),
    0.0,
    1.0,
)
REPLIES: list[Reply] = [
    Hello(PROTOCOL, {"python": "3.10.0"}, ("sdpa",)),
    Devices((Device("cpu", "a processor", 1, 2),), "cpu"),
    Ready(),
    Started(1, "cuda:0"),
    Progress(0.5, say("step {n}", n=3), 2.5, 1),
    Partial((HEATMAP,), 1),
    Finished(1, Report((HEATMAP,), {"largest": 0.5, "word": "很", "curve": [1.0, 2.0], "ok": True, "n": 3})),
    Failed(1, "invalid", say("{label} is wrong", label=say("size")), "size"),
    Log("a line"),
]
REQUESTS: list[Request] = [
    Run(1, "sdpa", {"sentence": "今天 天气", "q": [[1.0, 0.0]], "mask": True}, 7, "auto", "zh"),
    Probe(2, "我的.py", "def f(x): return x", "f", "今天 天气", 3, 1.5, 1 << 30),
    View(3, "w.npy", bytes(range(256)), "w"),
    Cancel(1),
    Pause(1),
    Resume(1),
    Close(),
]


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


def decode(data: bytes, cuts: list[int]) -> list[Reply]:
    decoder = Decoder(Reply, preamble=True)
    return [message for piece in pieces(data, cuts) for message in decoder.feed(piece)]


CUTS = st.lists(st.integers(0, 1 << 20), max_size=40)


@given(replies=st.lists(st.sampled_from(REPLIES)), noise=st.binary(max_size=300), cuts=CUTS)
def test_replies_arrive_whole_however_the_stream_is_cut_and_whatever_comes_before(
    replies: list[Reply], noise: bytes, cuts: list[int]
) -> None:
    assert decode(noise + PREAMBLE + b"".join(map(encode, replies)), cuts) == replies


def test_replies_arrive_byte_by_byte() -> None:
    data = b"Welcome to gpu01\n" + PREAMBLE + b"".join(map(encode, REPLIES))
    assert decode(data, list(range(len(data)))) == REPLIES


@given(requests=st.lists(st.sampled_from(REQUESTS)), cuts=CUTS)
def test_requests_need_no_preamble(requests: list[Request], cuts: list[int]) -> None:
    decoder = Decoder(Request, preamble=False)
    stream = pieces(b"".join(map(encode, requests)), cuts)
    assert [message for piece in stream for message in decoder.feed(piece)] == requests


@pytest.mark.parametrize("size", [0, 1, LONGEST_NOISE])
def test_noise_of_up_to_64_kib_is_skipped(size: int) -> None:
    assert decode(b"x" * size + PREAMBLE + encode(Ready()), []) == [Ready()]


@pytest.mark.parametrize("ending", [b"", PREAMBLE])
def test_more_noise_is_refused(ending: bytes) -> None:
    with pytest.raises(FramingError, match="no engine after 65,536 bytes of other output"):
        decode(b"x" * (LONGEST_NOISE + 1) + ending, [])


def test_the_last_line_of_noise_is_kept_for_the_learner() -> None:
    decoder = Decoder(Reply, preamble=True)
    assert list(decoder.feed(b"Last login: Monday\nssh: \xe4\xbd\xa0 not found\n\n")) == []
    assert decoder.noise == "ssh: 你 not found"


def test_another_version_of_the_protocol_is_recognised() -> None:
    with pytest.raises(ProtocolMismatch) as mismatch:
        decode(b"banner\n" + PREAMBLE.replace(bytes([PROTOCOL]), bytes([PROTOCOL + 1])), [])
    assert mismatch.value.theirs == PROTOCOL + 1


def test_a_frame_that_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(FramingError, match="a frame of 67,108,865 bytes is larger than 67,108,864"):
        decode(PREAMBLE + (LARGEST_FRAME + 1).to_bytes(4, "big"), [])


def test_a_message_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(FramingError, match="is larger than 67,108,864"):
        encode(Run(1, "sdpa", {"text": "x" * LARGEST_FRAME}))


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x80", b"\x81\xa4type\xa7unknown", encode(Close())[4:]])
def test_what_is_no_reply_is_refused(body: bytes) -> None:
    with pytest.raises(FramingError, match="not a message"):
        decode(PREAMBLE + len(body).to_bytes(4, "big") + body, [])


def test_a_non_finite_number_survives_the_way() -> None:
    report = Report((), {"gradient": float("inf"), "loss": float("nan")})
    (finished,) = decode(PREAMBLE + encode(Finished(1, report)), [])
    assert isinstance(finished, Finished)
    assert finished.report.values["gradient"] == float("inf")
    assert finished.report.values["loss"] != finished.report.values["loss"]

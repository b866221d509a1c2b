import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tutor.cli.streams import holds_chinese, prepare_streams


@pytest.fixture(autouse=True, scope="module")
def prepared() -> None:
    prepare_streams()


@pytest.mark.parametrize(
    ("text", "ascii"),
    [
        ("“a” – b…", '"a" - b.'),
        ("√d_k × 3 → q₁", "Vd_k x 3 > q1"),
        ("│█─", "|#-"),
        ("café", "cafe"),
        ("猫 mat", "?? mat"),
        ("✓ ✗", "+ x"),
    ],
)
def test_what_an_encoding_lacks_becomes_the_closest_it_has(text: str, ascii: str) -> None:
    assert text.encode("ascii", "tutor.closest").decode("ascii") == ascii


@given(st.text(st.characters(min_codepoint=32, exclude_categories=("Cc", "Cf", "Cs", "Mn", "Me", "Mc", "Cn", "Co"))))
def test_columns_stay_aligned_whatever_the_encoding_lacks(text: str) -> None:
    assert len(text.encode("ascii", "tutor.closest")) == sum(map(cell_len, text))


@given(st.text())
def test_nothing_that_is_printed_can_fail(text: str) -> None:
    for encoding in ("ascii", "latin-1", "gbk", "utf-8"):
        text.encode(encoding, "tutor.closest")


@pytest.mark.parametrize(("encoding", "holds"), [("utf-8", True), ("gbk", True), ("ascii", False), ("latin-1", False)])
def test_chinese_is_shown_where_the_encoding_has_it(encoding: str, holds: bool) -> None:
    assert holds_chinese(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) is holds


CLOSED = """
import os, sys
os.close(0); os.close(1)
sys.stdin = sys.stdout = None
from tutor.cli.streams import prepare_streams
prepare_streams()
opened = os.open(sys.argv[1], os.O_RDWR)
print("lost")
sys.stdout.flush()
print(opened, repr(sys.stdin.read()), file=sys.stderr)
"""


def test_closed_streams_lead_nowhere_and_their_numbers_are_not_given_to_files(tmp_path: object) -> None:
    file = f"{tmp_path}/precious"
    with open(file, "w", encoding="utf-8") as precious:
        precious.write("kept")
    done = subprocess.run([sys.executable, "-c", CLOSED, file], capture_output=True, encoding="utf-8")
    assert done.stderr == "3 ''\n"
    with open(file, encoding="utf-8") as precious:
        assert precious.read() == "kept"

import pytest

from engine.contract.message import say
from tutor.cli.arguments import Parser
from tutor.cli.errors import UsageError
from tutor.cli.main import COMMANDS, OPEN, split_command
from tutor.cli.places import COMMAND_NAMES


@pytest.fixture
def parser() -> Parser:
    made = Parser("tutor run", say("Run one lab."), str)
    made.word("LAB", say("a lab; `tutor labs` lists them"))
    made.option("--embed-size", value="N", help="width")
    made.option("--scale", value="on|off", nargs="?", const="on", help="scaled")
    made.constant("--no-scale", "off", dest="scale")
    made.flag("--json", help=say("print one JSON object"))
    return made


@pytest.mark.parametrize(
    "words",
    [
        ["heads", "--embed-size", "64"],
        ["heads", "--embed_size", "64"],
        ["--embed-size=64", "heads"],
        ["--embed_size=64", "heads"],
    ],
)
def test_an_option_is_written_with_hyphens_or_underscores(parser: Parser, words: list[str]) -> None:
    assert (parser.read(words).lab, parser.read(words).embed_size) == ("heads", "64")


@pytest.mark.parametrize("value", ["-1 0; 0 1", "-1,0", "-", "-5", "a=b", "", "—", "\udcff"])
def test_a_value_may_begin_as_it_likes(parser: Parser, value: str) -> None:
    assert parser.read(["--embed-size", value, "--json"]).embed_size == value


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        (["--scale"], "on"),
        (["--scale", "off"], "off"),
        (["--scale", "--json"], "on"),
        (["--no-scale"], "off"),
        (["--scale", "--no-scale"], "off"),
        ([], None),
    ],
)
def test_a_switch_can_be_set_in_three_ways(parser: Parser, words: list[str], scale: str | None) -> None:
    assert parser.read(words).scale == scale


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--embed-size"], "The option --embed-size needs a value."),
        (["--embed-size", "--json"], "The option --embed-size needs a value."),
        (["--embed-size", "--"], "--embed-size cannot be “--”."),
        (["--json=3"], "The option --json takes no value."),
        (["--embed", "3"], "There is no option --embed here; did you mean --embed-size?"),
        (["--xyz"], "There is no option --xyz here; there are: --embed-size, --scale, --no-scale, --json."),
        (["heads", "shoulders"], "“shoulders” is one word too many; quote a text that has spaces."),
        (["-x"], "There is no option -x here; there are: --embed-size, --scale, --no-scale, --json."),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(parser: Parser, words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        parser.read(words)
    assert str(refused.value.message) == sentence


@pytest.mark.parametrize(
    ("words", "name", "rest"),
    [
        ([], "", []),
        (["labs"], "labs", []),
        (["--lang", "zh", "labs", "--json"], "labs", ["--lang", "zh", "--json"]),
        (["--lang=zh", "run", "heads"], "run", ["--lang=zh", "heads"]),
        (["--engine", "run", "run", "heads"], "run", ["--engine", "run", "heads"]),
        (["self-attention", "run"], "", ["self-attention", "run"]),
        (["--no-mouse", "show"], "show", ["--no-mouse"]),
        (["--lang"], "", ["--lang"]),
    ],
)
def test_the_first_word_that_is_no_option_names_the_command(words: list[str], name: str, rest: list[str]) -> None:
    command, others = split_command(words)
    assert (command.name, others) == (name, rest)
    assert (command is OPEN) == (not name)


def test_every_command_is_known_where_names_are_guessed() -> None:
    assert tuple(command.name for command in COMMANDS) == COMMAND_NAMES

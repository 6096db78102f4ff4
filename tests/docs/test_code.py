"""Every piece of code and every command on the site is run, page by page.

Blocks of a page are run in order, in one session, in a folder that holds nothing but a file
``vectors.npy``.  What a comment behind a ``print`` claims must be what is printed.  Some want
the network, a large package, or minutes to hours, and say so: commands of ``:class: slow``, code
that begins with ``# needs``.  They are parsed, but not run.  The code of the README has a test of
its own.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
from click.testing import CliRunner

import sphericalpca
from paper.cli.app import app as paper
from paper.methods import METHODS
from reliability.samples import SAMPLES
from sphericalpca.cli.app import COMMANDS, app
from sphericalpca.registry.formats import FORMATS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE_BY_THE_BUILD = {"api", "drawn", "gallery"}

DIRECTIVE = re.compile(
    r"^(?P<indent> *)\.\. (?:code-block|code|sourcecode):: (?P<language>[\w-]+)\n"
    r"(?P<options>(?:(?P=indent) +:[^\n]*\n)*)\n"
    r"(?P<body>(?:(?:(?P=indent) +[^\n]*)?\n)+)",
    re.MULTILINE,
)
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"python (?P<where>-m [\w.]+|\S+\.py)(?P<arguments>[^`\n)]*)")
COMMAND = re.compile(r"(?<=`)(?:sphericalpca|make|pip) [^`]+(?=`)")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Block:
    """A piece of code on a page; its first line is line `first` of the page."""

    page: Path
    first: int
    language: str
    mark: str
    source: str

    def __str__(self):
        return f"{self.page.relative_to(DOCS)}:{self.first}"


def pages():
    made = {DOCS / name for name in MADE_BY_THE_BUILD}
    found = (page for ending in ("rst", "md") for page in DOCS.rglob(f"*.{ending}"))
    return sorted(page for page in found if not made & set(page.parents))


def marked(page):
    """The page; those that evaluate models, or look for a number of bytes, take long."""
    long = page.name in ("embeddings.rst", "bytes.rst")
    return pytest.param(page, marks=pytest.mark.slow("whole experiments")) if long else page


def blocks(page):
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        for match in FENCE.finditer(text):
            first = text[: match.start("body")].count("\n") + 1
            mark = "slow" if match["body"].startswith("# needs") else ""
            yield Block(page, first, match["language"] or "console", mark, match["body"].rstrip())
        return
    for match in DIRECTIVE.finditer(text):
        mark = "".join(re.findall(r":class: (\w+)", match["options"]))
        first = text[: match.start("body")].count("\n") + 1
        yield Block(page, first, match["language"], mark, _dedented(match["body"]))


def _dedented(body):
    margins = [len(line) - len(line.lstrip()) for line in body.splitlines() if line.strip()]
    return "\n".join(line[min(margins, default=0) :] for line in body.splitlines()).rstrip()


@pytest.fixture
def registries():
    """Pages of "Extend" add to them; other tests must not see that."""
    before = [(registry, dict(registry)) for registry in (FORMATS, SAMPLES, METHODS)]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize(
    "page", [marked(page) for page in pages()], ids=lambda page: str(page.relative_to(DOCS))
)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((400, 96)) / np.arange(1, 97)
    np.save("vectors.npy", X.astype(np.float32))
    names = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python" and block.mark == "slow":
            compile(block.source, str(page), "exec")
        elif block.language == "python":
            run_python(block, names)
        else:
            assert block.language == "console", f"{block}: what is {block.language!r}?"
            run_commands(block)


def test_commands_and_scripts_within_the_text_are_known():
    """Scripts take minutes to hours, so they are not run: they and their options are there."""
    for page in [*pages(), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for found in SCRIPT.finditer(text):
            check_script(found, page.name)
        commands = [" ".join(found.split()) for found in COMMAND.findall(text)]
        if page.name in {"README.md", "CONTRIBUTING.md"} and page.parent == ROOT:
            # Commands in blocks, too: no other test covers all of them.
            blocks = (match["body"] for match in FENCE.finditer(text) if not match["language"])
            commands += "".join(blocks).splitlines()
        elif DOCS not in page.parents:
            continue
        for command in commands:
            check_command(*shlex.split(command, comments=True))


def check_script(found, where):
    name = found["where"].removeprefix("-m ")
    if name == "paper":
        words = shlex.split(found["arguments"], comments=True)
        if words in ([], ["..."]):  # any command
            return
        for first in words[0].split("|"):  # "reproduce|datasets" are two
            check_command("python", "-m", "paper", first, *words[1:])
        return
    if name in {"build", "pip", "pytest", "sphinx", "venv"}:
        return
    path = ROOT / (name if name.endswith(".py") else name.replace(".", "/"))
    path = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
    assert path.is_file(), f"{where}: there is no {name}"
    for option in re.findall(r"--\w[\w-]*", found["arguments"]):
        assert f'"{option}"' in path.read_text(encoding="utf-8"), (where, name, option)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_what_make_would_run_is_known():
    """They install packages and take minutes; what each would do is asked, and looked at."""
    (line,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in line.split():
        done = subprocess.run(
            ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
        for command in re.findall(r"\.venv/bin/sphericalpca (.*)", done.stdout):
            parse_command(shlex.split(command))
        for found in SCRIPT.finditer(done.stdout):
            check_script(found, "Makefile")


def run_python(block, names):
    tree = ast.parse("\n" * (block.first - 1) + block.source)
    claims = dict(_claims(block))
    for statement in tree.body:
        printed = io.StringIO()
        code = compile(ast.Module([statement], []), str(block.page), "exec")
        with contextlib.redirect_stdout(printed):
            try:
                exec(code, names)
            except sphericalpca.MissingExtraError as error:
                pytest.skip(str(error))
            except ModuleNotFoundError as error:
                # Large: torch is in the group `encoders` only, the clients are in none.
                if error.name not in {"torch", "qdrant_client", "lancedb"}:
                    raise
                pytest.skip(str(error))
        claim = claims.get(statement.end_lineno)
        if claim is not None:
            where = f"{block.page.relative_to(DOCS)}:{statement.end_lineno}"
            assert agrees(claim, printed.getvalue().strip()), (where, claim, printed.getvalue())


def _claims(block):
    """Line numbers of the page, and what the comment behind a print says."""
    for number, line in enumerate(block.source.splitlines(), block.first):
        if found := re.match(r"print\(.*\)  # (.*)$", line):
            yield number, found[1]


def agrees(claim, printed):
    """The same text, with numbers equal in the digits that are claimed."""
    if NUMBER.sub("#", claim) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(claim), NUMBER.findall(printed), strict=True)
    return all(abs(float(a) - float(b)) <= 0.6 * _unit(a) for a, b in pairs)


def _unit(number):
    digits, _, power = number.partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def run_commands(block):
    for line in block.source.splitlines():
        if block.page.suffix == ".rst":
            assert line.startswith("$ "), f"{block}: a command begins with '$ ', not {line!r}"
        program, *arguments = shlex.split(line.removeprefix("$ "), comments=True)
        if program == "sphericalpca" and block.mark != "slow":
            run_program(arguments)
        else:
            check_command(program, *arguments)


def check_command(program, *arguments):
    """What is not run here: its names are known."""
    if program == "sphericalpca" and len(arguments) == 1:
        assert arguments[0] in {*COMMANDS, "--help", "--system"}  # a name in a sentence
    elif program == "python" and arguments[1] == "paper" and len(arguments) == 3:
        assert arguments[2] in paper.table
    elif program == "python" and arguments[1] == "paper":
        parse_command(arguments[2:], paper)
    elif program == "sphericalpca":
        parse_command(arguments)
    elif program == "make":
        assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    else:
        assert program == "pip", f"nothing is known of {program!r}"
        check_extras(arguments)


def run_program(arguments):
    found = CliRunner().invoke(app, arguments)
    if "which is not installed" in found.output:
        pytest.skip(found.output)
    assert found.exit_code == 0, found.output


def parse_command(arguments, command=app):
    """All names, options and choices are known; nothing is run."""
    context = command.make_context("program", list(arguments))
    while hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


def check_extras(arguments):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert arguments[0] == "install"
    for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*?)\]", arguments[-1]))):
        assert extra in project["optional-dependencies"]


# The collector itself


def test_all_code_is_found():
    """As many blocks as a plain search finds, and some of each kind."""
    everything = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        expected = len(re.findall(r"\.\. code-block::|^```\w*$", text, re.MULTILINE))
        assert ">>>" not in text, f"{page}: doctests would be missed"
        found = list(blocks(page))
        assert len(found) == expected // (1 if page.suffix == ".rst" else 2), page
        everything += found
    assert {block.language for block in everything} == {"python", "console"}
    assert {block.mark for block in everything} == {"", "slow"}


def test_a_wrong_claim_and_a_wrong_command_are_noticed():
    for claim, printed in (("0.956", "0.9564"), ("1.4e-07", "1.45e-07"), ("1718", "1718.02")):
        assert agrees(claim, printed)
    for claim, printed in (("0.956", "0.958"), ("(9, 10)", "(9, 12)"), ("True", "False")):
        assert not agrees(claim, printed)
    wrong = Block(DOCS / "start.rst", 1, "python", "", "print(1 + 1)  # 3")
    with pytest.raises(AssertionError):
        run_python(wrong, {})
    with pytest.raises(AssertionError):
        run_commands(Block(DOCS / "start.rst", 1, "console", "", "$ sphericalpca fly"))
    with pytest.raises(Exception, match="nonsense"):
        parse_command(["reproduce", "nonsense"], paper)

"""The program as a whole: help, version, errors in one line, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import click
import numpy as np
import pytest

import sphericalpca
from sphericalpca import DataError, MissingExtraError, modelfile
from sphericalpca.__main__ import main
from sphericalpca.cli import app as application
from sphericalpca.cli.app import COMMANDS, app
from sphericalpca.cli.console import Commands, examples
from sphericalpca.exceptions import Parameter, ParameterError


def program(*words, code=None, **options):
    """The program in a process of its own."""
    start = ["-m", "sphericalpca"] if code is None else ["-c", code]
    options = {"capture_output": True, "text": True, **options}
    return subprocess.run([sys.executable, *start, *words], check=False, timeout=60, **options)


@pytest.fixture
def failing(monkeypatch):
    """A command `fail` that raises what a test gives it."""

    def prepare(error):
        @click.command()
        def fail():
            raise error

        monkeypatch.setattr(application, "fail", fail, raising=False)
        monkeypatch.setitem(COMMANDS, "fail", "sphericalpca.cli.app:fail")

    return prepare


def commands(command=app, words=()):
    """Every command and group, by the words that lead to it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*words, name))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_everywhere_with_examples(run, words, option):
    result = run(*words, option)
    assert result.exit_code == 0
    assert result.stdout.startswith(" ".join(["Usage: sphericalpca", *words]))
    assert f"\n    sphericalpca {' '.join(words)}".rstrip() in result.stdout
    assert "Examples:\n" in result.stdout


def test_no_command_is_described_by_half_a_sentence(run):
    listed = run("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    assert len(listed.splitlines()) >= 3
    assert "..." not in listed


def test_version(run):
    result = run("--version")
    assert result.exit_code == 0
    assert sphericalpca.__version__ in result.stdout


@pytest.mark.parametrize("words", [("nonsense",), ("--nonsense",), ("info", "--nonsense")])
def test_usage_errors_are_clicks_own(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: sphericalpca" in result.stderr
    assert "nonsense" in result.stderr


@pytest.mark.parametrize(("words", "meant"), [("fti", "fit"), ("Fit", "fit")])
def test_the_nearest_command_is_suggested(run, words, meant):
    result = run(*words.split())
    assert result.exit_code == 2
    assert f"No such command {words.split()[-1]!r}. Did you mean {meant!r}?" in result.stderr


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DataError("X is bad: mend it."), "X is bad: mend it."),
        (DataError("two\n  lines"), "two lines."),
        (ValueError("n_components=9 is too large."), "n_components=9 is too large."),
        (
            MissingExtraError("Plotting", "matplotlib", "plot"),
            "Plotting needs matplotlib, which is not installed: pip install 'sphericalpca[plot]'",
        ),
        (
            FileNotFoundError(2, "No such file or directory", "a b"),
            "a b: No such file or directory",
        ),
        (OSError("the cable is out"), "the cable is out"),
        (MemoryError(), "Not enough memory."),
        (MemoryError("Unable to allocate 7 TiB"), "Unable to allocate 7 TiB"),
        (KeyError("lost"), "KeyError: 'lost' (unexpected; --debug shows where)"),
        (ValueError(), "ValueError (unexpected; --debug shows where)"),
    ],
    ids=repr,
)
def test_errors_take_one_line(run, failing, error, line):
    failing(error)
    result = run("fail")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == f"Error: {line}\n"


def test_errors_speak_in_the_options_of_the_innermost_command(run, monkeypatch):
    @click.group(cls=Commands)
    def outer():
        pass

    @outer.command()
    @click.option("--tol")
    def inner(tol):
        raise ParameterError(Parameter("tol", tol), "must be smaller")

    monkeypatch.setattr(application, "outer", outer, raising=False)
    monkeypatch.setitem(COMMANDS, "outer", "sphericalpca.cli.app:outer")
    result = run("outer", "inner", "--tol", "1")
    assert result.stderr == "Error: --tol 1 must be smaller.\n"


def test_debug_shows_the_traceback(run, failing):
    failing(DataError("X is bad."))
    result = run("--debug", "fail")
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.endswith("Error: X is bad.\n")


@pytest.mark.parametrize(
    ("interrupt", "line"),
    [(KeyboardInterrupt(), "Interrupted."), (KeyboardInterrupt("Stopped at 3."), "Stopped at 3.")],
)
def test_an_interrupt_takes_one_line(run, failing, interrupt, line):
    failing(interrupt)
    result = run("fail")
    assert result.exit_code == 130
    assert result.output == f"{line}\n"


def test_errors_of_click_are_left_to_click(run, failing):
    failing(click.ClickException("stop"))
    result = run("fail")
    assert (result.exit_code, result.stderr) == (1, "Error: stop\n")
    failing(click.UsageError("not so"))
    assert run("fail").exit_code == 2
    failing(click.exceptions.Exit(7))
    assert run("fail").exit_code == 7


def test_commands_are_imported_when_they_are_used():
    code = "import sys; from sphericalpca.__main__ import main\n"
    code += "try: main(['--version'])\nfinally: print(*sys.modules, file=sys.stderr)"
    done = program(code=code)
    loaded = done.stderr.split()
    assert done.returncode == 0
    assert "sphericalpca.cli.app" in loaded
    assert not [m for m in loaded if m.startswith(("sphericalpca.cli.d", "sphericalpca.cli.r"))]
    assert "matplotlib" not in loaded


def test_module_and_script_are_the_same():
    module = program("--version")
    assert module.returncode == 0
    assert module.stdout == f"sphericalpca, version {sphericalpca.__version__}\n"
    code = "import sys; from sphericalpca.__main__ import main; sys.exit(main())"
    assert program("--version", code=code).stdout == module.stdout


def test_main_exits(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    assert sphericalpca.__version__ in capsys.readouterr().out


def test_main_says_what_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(SystemExit) as leaving:
        main([])
    assert leaving.value.code == 2
    assert (
        capsys.readouterr().err
        == f"Error: {MissingExtraError('The command line', 'rich', 'cli')}\n"
    )


@pytest.mark.parametrize("package", ["click", "rich"])
def test_without_the_packages_of_the_command_line(package):
    code = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from sphericalpca.__main__ import main
main(["--help"])
"""
    done = program(code=code)
    assert done.returncode == 2
    assert done.stdout == ""
    error = MissingExtraError("The command line", package, "cli")
    assert done.stderr == f"Error: {error}\n"


@pytest.mark.parametrize("words", ["--help", "fit --help"])
@pytest.mark.parametrize("colours", [{}, {"FORCE_COLOR": "1"}], ids=["plain", "rich"])
def test_behind_a_closed_pipe_the_program_ends_as_others_do(words, colours):
    """In silence, and as a shell reports of programs that SIGPIPE ends."""
    reading, writing = os.pipe()
    os.close(reading)
    pipes = {"stdout": writing, "stderr": subprocess.PIPE, "capture_output": False}
    done = program(*words.split(), **pipes, env={**os.environ, **colours})
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


def test_errors_into_a_closed_pipe_are_no_drama():
    """What 2>&1 | head -0 does."""
    reading, writing = os.pipe()
    os.close(reading)
    done = program("info", "nowhere", stdout=writing, stderr=writing, capture_output=False)
    os.close(writing)
    assert done.returncode == 128 + signal.SIGPIPE


WAITING = """
import click, sys, time
from sphericalpca.cli import app
from sphericalpca.__main__ import main

@click.command()
def wait():
    click.echo("waiting")
    time.sleep(600)

app.wait = wait
app.COMMANDS["wait"] = "sphericalpca.cli.app:wait"
main(["wait"])
"""


def test_ctrl_c(ctrl_c):
    words = [sys.executable, "-c", WAITING]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **pipes) as process:
        assert process.stdout.readline() == "waiting\n"
        out, err = ctrl_c(process)
    assert (process.returncode, out, err) == (130, "", "Interrupted.\n")


def test_examples_keep_their_lines():
    assert examples("one", "two") == "\b\nExamples:\n  one\n  two"


EVIL = "a\x1b[2J\x9b1m\r\u202egnp.\udc80"


def harmless(result):
    told = result.stdout + result.stderr
    assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(told)
    return told


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, lambda e: OSError(2, "No file", e)])
def test_an_error_cannot_command_the_terminal(run, failing, kind):
    failing(kind(EVIL))
    assert r"a\x1b[2J\x9b1m \u202egnp.\udc80" in harmless(run("fail"))


def test_names_of_files_cannot_command_the_terminal(run, tmp_path):
    """Whoever packs a folder chooses the names in it; a pattern of the shell brings them here."""
    path = tmp_path / f"{EVIL}.npy"
    np.save(path, np.random.default_rng(0).standard_normal((30, 5)))
    out = tmp_path / f"{EVIL}.safetensors"
    assert r"\x1b" in harmless(run("fit", path, "-r", 2, "-o", out))
    harmless(run("fit", path, "-r", 2, "-o", out))  # exists
    harmless(run("info", out))
    harmless(run("transform", out, path, "-o", tmp_path / f"{EVIL}2.npy"))
    harmless(run("bench", path, "-r", 2, "--rounds", 1))
    harmless(run("info", path))


def test_names_in_files_cannot_command_the_terminal(run, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    evil = EVIL[:-1]  # no half of a character
    inner = arrow.struct([(evil, arrow.float32())])
    tables = [
        arrow.table({evil: ["text"]}),
        arrow.table({evil: arrow.array([[1.0]]), f"{evil}2": arrow.array([[1.0]])}),
        arrow.table({"a": arrow.array([None], inner)}),
    ]
    for table in tables:
        parquet.write_table(table, tmp_path / "x.parquet")
        for option in ([], ["--column", "a"], ["--columns", "a"]):
            words = ["fit", tmp_path / "x.parquet", "-r", 1, "-o", tmp_path / "m", *option]
            assert "Error" in harmless(run(*words))


def test_what_a_model_says_cannot_command_the_terminal(run, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((30, 5)))
    run("fit", tmp_path / "x.npy", "-r", 2, "-o", tmp_path / "m")
    header, arrays = modelfile.read_model(tmp_path / "m")
    evil = EVIL[:-1]
    changes = [
        {"class": evil},
        {"format": evil},
        {"parameters": {**header["parameters"], evil: evil}},
        {"parameters": {**header["parameters"], "solver": evil}},
        {"versions": {evil: evil}},
        {"fitted": {**header["fitted"], "stop_reason_": evil, evil: evil}},
        {"fitted": {**header["fitted"], "n_iter_": evil}},
        {"solver": {"name": evil, "options": {evil: evil}}},
        {"solver": {"name": "Anderson", "options": {evil: evil}}},
        {"feature_names": [evil] * 5},
        {"certificate": {"gap": evil, "rigorous": evil}},
        {"constants": {evil: evil}},
    ]
    for change in changes:
        modelfile.write_model(tmp_path / "m", arrays, header | change)
        told = harmless(run("info", tmp_path / "m"))
        assert told
        assert max(map(len, told.splitlines())) < 500
        target = tmp_path / "out.npy"
        harmless(run("transform", tmp_path / "m", tmp_path / "x.npy", "-o", target, "--force"))

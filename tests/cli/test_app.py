"""The program as a whole: help, version, errors in one line, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import click
import numpy as np
import pytest
from click.exceptions import Exit

import sphericalpca
from sphericalpca import DataError, MissingExtraError, modelfile
from sphericalpca.__main__ import main
from sphericalpca.cli import app as application
from sphericalpca.cli.app import COMMANDS, app
from sphericalpca.cli.console import Commands
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.system import describe_system


def program(*words, **options):
    """The program in a separate process."""
    command = [sys.executable, "-m", "sphericalpca", *words]
    return subprocess.run(command, check=False, timeout=60, text=True, **options)


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


def test_help_everywhere_with_examples_and_whole_sentences(run):
    for words in commands():
        result = run(*words, "-h")
        assert result.exit_code == 0
        assert result.stdout == run(*words, "--help").stdout
        assert result.stdout.startswith(" ".join(["Usage: sphericalpca", *words]))
        assert f"\n    sphericalpca {' '.join(words)}".rstrip() in result.stdout
        assert "Examples:\n" in result.stdout
        assert "..." not in result.stdout.partition("Commands:\n")[2].partition("\n\n")[0]


def test_system(run, monkeypatch):
    """Also if the choice of kernels is wrong, which users need to find out."""
    assert run("--system").stdout == f"{describe_system()}\n"
    assert run("--system", "fit").exit_code == 0
    monkeypatch.setenv("SPHERICALPCA_KERNELS", "mmx")
    result = run("--system")
    assert result.exit_code == 0
    assert "SPHERICALPCA_KERNELS=mmx is not available" in result.stdout


def test_version(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    told = f"sphericalpca, version {sphericalpca.__version__}\n"
    assert (leaving.value.code, capsys.readouterr().out) == (0, told)
    assert program("--version", capture_output=True).stdout == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nonsense", "nonsense"),
        ("--nonsense", "--nonsense"),
        ("info --nonsense", "--nonsense"),
        ("fti", "No such command 'fti'. Did you mean 'fit'?"),
        ("Fit", "No such command 'Fit'. Did you mean 'fit'?"),
    ],
)
def test_usage_errors_are_clicks_own(run, words, told):
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: sphericalpca" in result.stderr
    assert told in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (DataError("X is bad: mend it."), 1, "Error: X is bad: mend it."),
        (DataError("two\n  lines"), 1, "Error: two lines."),
        (ValueError("n_components=9 is too large."), 1, "Error: n_components=9 is too large."),
        (MissingExtraError("A", "b", "c"), 1, f"Error: {MissingExtraError('A', 'b', 'c')}"),
        (FileNotFoundError(2, "No such file", "a b"), 1, "Error: a b: No such file"),
        (OSError("the cable is out"), 1, "Error: the cable is out"),
        (MemoryError(), 1, "Error: Not enough memory."),
        (MemoryError("Unable to allocate 7 TiB"), 1, "Error: Unable to allocate 7 TiB"),
        (KeyError("lost"), 1, "Error: KeyError: 'lost' (unexpected; --debug shows where)"),
        (ValueError(), 1, "Error: ValueError (unexpected; --debug shows where)"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (KeyboardInterrupt("Stopped at 3."), 130, "Stopped at 3."),
        (click.ClickException("stop"), 1, "Error: stop"),
    ],
    ids=repr,
)
def test_errors_take_one_line(run, failing, error, code, told):
    failing(error)
    result = run("fail")
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"{told}\n")
    if code == 1 and not isinstance(error, click.ClickException):
        result = run("--debug", "fail")
        assert result.exit_code == 1
        assert "Traceback (most recent call last)" in result.stderr
        assert result.stderr.endswith(f"{told}\n")


@pytest.mark.parametrize(("error", "code"), [(click.UsageError("no"), 2), (Exit(7), 7)])
def test_how_click_ends_is_left_to_click(run, failing, error, code):
    failing(error)
    assert run("fail").exit_code == code


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


@pytest.mark.parametrize("package", ["click", "rich"])
def test_main_says_what_is_missing(capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as leaving:
        main([])
    error = MissingExtraError("The command line", package, "cli")
    assert (leaving.value.code, capsys.readouterr().err) == (2, f"Error: {error}\n")


@pytest.mark.parametrize("words", ["fit --help", "info nowhere"])
def test_behind_a_closed_pipe_the_program_ends_as_others_do(words):
    """As a shell reports of programs that SIGPIPE ends: what 2>&1 | head -0 does."""
    reading, writing = os.pipe()
    os.close(reading)
    done = program(*words.split(), stdout=writing, stderr=writing)
    os.close(writing)
    assert done.returncode == 128 + signal.SIGPIPE


EVIL = "a\x1b[2J\x9b1m\r\u202egnp.\udc80"


def harmless(result):
    told = result.stdout + result.stderr
    assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(told)
    return told


def test_errors_and_names_of_files_cannot_command_the_terminal(run, failing, tmp_path):
    """Whoever packs a folder chooses the names in it; a pattern of the shell brings them here."""
    for error in (ValueError(EVIL), RuntimeError(EVIL), OSError(2, "No file", EVIL)):
        failing(error)
        assert r"a\x1b[2J\x9b1m \u202egnp.\udc80" in harmless(run("fail"))
    path, out = tmp_path / f"{EVIL}.npy", tmp_path / f"{EVIL}.safetensors"
    np.save(path, np.random.default_rng(0).standard_normal((30, 5)))
    assert r"\x1b" in harmless(run("fit", path, "-r", 2, "-o", out))
    for words in (
        ("fit", path, "-r", 2, "-o", out),  # exists
        ("info", out),
        ("transform", out, path, "-o", tmp_path / f"{EVIL}2.npy"),
        ("bench", path, "-r", 2, "--rounds", 1),
        ("info", path),
    ):
        harmless(run(*words))


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
    for part, change in [
        *(("class", evil), ("format", evil), ("versions", {evil: evil})),
        ("parameters", {**header["parameters"], evil: evil}),
        ("parameters", {**header["parameters"], "solver": evil}),
        ("fitted", {**header["fitted"], "stop_reason_": evil, evil: evil}),
        ("fitted", {**header["fitted"], "n_iter_": evil}),
        ("solver", {"name": evil, "options": {evil: evil}}),
        ("solver", {"name": "Anderson", "options": {evil: evil}}),
        *(("feature_names", [evil] * 5), ("constants", {evil: evil})),
        ("certificate", {"gap": evil, "rigorous": evil}),
    ]:
        modelfile.write_model(tmp_path / "m", arrays, header | {part: change})
        told = harmless(run("info", tmp_path / "m"))
        assert told
        assert max(map(len, told.splitlines())) < 500
        target = tmp_path / "out.npy"
        harmless(run("transform", tmp_path / "m", tmp_path / "x.npy", "-o", target, "--force"))

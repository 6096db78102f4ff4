"""The command from a user's view: output, rejected input, resuming."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from paper import runner
from paper.__main__ import main
from paper.cli.app import app
from paper.cli.reproduce import reproduce
from paper.journal import Journal
from paper.plan import EXPERIMENTS, ExperimentPlan

FILES = {
    "rows.csv",
    "toy.csv",
    "convergence.csv",
    "solvers.csv",
    "report.html",
    "figures",
    "tables",
}


@pytest.fixture
def invoke(monkeypatch, tmp_path):
    """Run the program with no data in reach and a plan that takes seconds."""
    monkeypatch.setenv("SPHERICALPCA_DATA_HOME", str(tmp_path / "no data here"))
    tiny = replace(
        ExperimentPlan.quick(),
        toy_draws=3,
        ranks=(2, 3),
        lsa_ranks=(2,),
        lsa_seeds=2,
        solver_steps=20,
    )
    monkeypatch.setattr(ExperimentPlan, "quick", classmethod(lambda _: tiny))

    def call(*arguments):
        return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])

    return call


@pytest.mark.slow("experiment")
def test_quick_without_data_shows_everything_on_embedded_data(invoke, tmp_path):
    done = invoke("all", "--quick", "--repetitions", 2, "--jobs", 1, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "dependencies instead" in done.output
    assert "Table 4 (embeddings) is skipped" in done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert "- Toy. K-means reaches" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("report.html")
    rows = Journal(tmp_path / "out" / "rows.csv").rows.values()
    assert {row["experiment"] for row in rows} == {*EXPERIMENTS} - {"embeddings"}
    assert {row["dataset"] for row in rows} >= {"docstrings", "digits"}


@pytest.mark.usefixtures("undrawn")
def test_the_same_command_again_repeats_nothing(invoke, tmp_path, monkeypatch):
    command = ("figures", "--quick", "--embedded", "--jobs", 1, "--out", tmp_path)
    assert "0 of 12 trials are done" in invoke(*command).output
    rows, page = tmp_path / "rows.csv", tmp_path / "report.html"
    before, drawn = rows.read_bytes(), page.read_bytes()
    page.unlink()
    assert invoke("report", "--out", tmp_path).exit_code == 0
    assert page.read_bytes() == drawn, "the page can be drawn again from the files"
    rows.write_bytes(before.replace(b"numpy ", b"numpy 0."))
    changed = rows.read_bytes()
    monkeypatch.setattr(
        "paper.report.write_report", lambda _: SimpleNamespace(page=page, headlines=[])
    )
    told = invoke(*command).output
    assert "12 of 12 trials are done" in told
    assert "12 rows" in told
    assert "another commit, machine or version" in told
    assert rows.read_bytes() == changed


def one_line(done):
    assert done.exit_code != 0
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("uci --out out", ["glass", "isolet", "python -m paper datasets fetch", "--data-home"]),
        # A slip in the name must not end in a page about other data.
        ("uci --quick --data-home slip --out out", ["in slip, which does not exist"]),
        ("uci --quick --data-home slip --out out", ["--data-home slip"]),
        ("figures --out file/deeper", ["Not a directory"]),
        ("report --out .", ["python -m paper reproduce"]),
        ("embeddings --out out", ["No newsgroups_minilm_f16.npz in", "choose another PART"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(invoke, tmp_path, monkeypatch, words, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    line = one_line(invoke(*words.split()))
    assert all(part in line for part in parts)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_committed_results_are_not_written_to_by_default():
    """A user's first run must not change files of the repository."""
    (out,) = (option for option in reproduce.params if option.name == "out")
    assert out.default.name != "results"


@pytest.mark.usefixtures("undrawn")
def test_failed_trials_are_named_and_the_rest_is_shown(invoke, tmp_path, monkeypatch):
    original = runner.run_trial

    def fail_once(trial, data_home):
        if "svd-unit" in trial.methods:
            raise ValueError("no\nluck")
        return original(trial, data_home)

    monkeypatch.setattr(runner, "run_trial", fail_once)
    command = ("figures", "--jobs", 1, "--out", tmp_path)
    done = invoke(*command, "--quick", "--embedded")
    assert done.exit_code == 1
    assert "3 trials failed" in done.stderr
    assert "toy toy '2' main, repetition 0, svd-unit, r = 2: ValueError: no luck" in done.stderr
    assert (tmp_path / "report.html").exists()
    monkeypatch.setattr(runner, "run_trial", original)
    monkeypatch.setattr(
        "paper.report.write_report", lambda out: SimpleNamespace(page=out, headlines=[])
    )
    monkeypatch.setattr("paper.plan.ExperimentPlan", ExperimentPlan.quick)
    done = invoke(*command)  # the full plan: figures need no data
    assert done.exit_code == 0, done.output
    assert "9 of 12 trials are done" in done.output


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("tables", "'tables' is not one of"),
        ("figures --out rows.csv", "is a file"),
        ("figures --quick --out .", "is not a rows file"),
    ],
)
def test_wrong_arguments(invoke, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("not,ours\n")
    done = invoke(*words.split())
    assert done.exit_code == (1 if complaint == "is not a rows file" else 2)
    assert complaint in done.stderr
    assert (tmp_path / "rows.csv").read_text() == "not,ours\n"


@pytest.mark.parametrize("package", ["pandas", "jinja2", "matplotlib"])
def test_a_missing_package_is_named_with_the_remedy(invoke, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    line = one_line(invoke("figures", "--out", tmp_path / "o"))
    assert package in line
    assert "pip install --editable .[cli,pages] --group paper" in line
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("package", ["sphericalpca", "click", "rich"])
def test_without_the_environment_one_line_says_how_to_make_it(capsys, monkeypatch, package):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else found(name)
    )
    with pytest.raises(SystemExit) as leaving:
        main(["datasets"])
    assert leaving.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"Error: {package} is not installed")
    assert "run `make demo` first, then `.venv/bin/python -m paper ...`" in line


@pytest.mark.slow("killed process")
def test_ctrl_c_says_how_to_go_on(tmp_path, ctrl_c):
    """A terminal sends the signal to the whole group: parent and workers."""
    command = [sys.executable, "-m", "paper", "reproduce", "uci", "--embedded", "--jobs=2"]
    running = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "rows.csv").exists():
        assert running.poll() is None
        time.sleep(0.1)
    _, err = ctrl_c(running, lambda blow: os.killpg(running.pid, blow))
    assert running.returncode == 130
    assert "Run the same command to resume" in err
    assert "Traceback" not in err
    assert Journal(tmp_path / "rows.csv").rows

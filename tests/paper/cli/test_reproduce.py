"""The command as a user meets it: what it writes, what it refuses, how it goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from click.testing import CliRunner

from paper import runner
from paper.cli.app import app
from paper.cli.reproduce import reproduce
from paper.journal import Journal
from paper.plan import ExperimentPlan

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


def test_quick_without_data_shows_everything_on_embedded_data(invoke, tmp_path):
    done = invoke("all", "--quick", "--repetitions", 2, "--jobs", 1, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "take their place" in done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert "- Toy. K-means is right on" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("report.html")
    rows = Journal(tmp_path / "out" / "rows.csv").rows.values()
    assert {row["experiment"] for row in rows} == {"toy", "newsgroups", "rank", "uci", "lsa"}
    assert {row["dataset"] for row in rows} >= {"docstrings", "digits"}


def test_the_same_command_again_repeats_nothing(invoke, tmp_path):
    command = ("figures", "--quick", "--embedded", "--jobs", 1, "--out", tmp_path)
    assert "0 of 12 trials are done" in invoke(*command).output
    before = (tmp_path / "rows.csv").read_bytes()
    assert "12 of 12 trials are done" in invoke(*command).output
    assert (tmp_path / "rows.csv").read_bytes() == before


def test_an_interrupt_before_the_first_row(invoke, tmp_path, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("paper.reproduction.run", interrupted)
    out = tmp_path / "new" / "out"
    done = invoke("uci", "--quick", "--embedded", "--jobs", 1, "--out", out)
    assert done.exit_code == 130
    assert "; 1 process.\n" in done.output
    assert done.output.endswith(
        "Interrupted; no row was finished. Give the same command to go on.\n"
    )
    assert not out.parent.exists()


def test_the_page_can_be_drawn_again_from_the_files(invoke, tmp_path):
    invoke("figures", "--quick", "--embedded", "--jobs", 1, "--out", tmp_path)
    page = (tmp_path / "report.html").read_bytes()
    (tmp_path / "report.html").unlink()
    assert invoke("report", "--out", tmp_path).exit_code == 0
    assert (tmp_path / "report.html").read_bytes() == page


def test_rows_of_other_versions_are_mentioned(invoke, tmp_path):
    command = ("figures", "--quick", "--embedded", "--jobs", 1, "--out", tmp_path)
    invoke(*command)
    rows = tmp_path / "rows.csv"
    rows.write_text(rows.read_text().replace("numpy ", "numpy 0."))
    assert "12 rows" in invoke(*command).output
    assert "other versions" in invoke(*command).output


def one_line(done):
    assert done.exit_code != 0
    (line,) = done.stderr.splitlines()
    return line


def test_missing_data_get_one_line_with_the_remedy(invoke, tmp_path):
    line = one_line(invoke("uci", "--out", tmp_path / "out"))
    assert "glass" in line
    assert "isolet" in line
    assert "python -m paper datasets fetch" in line
    assert "--data-home" in line
    assert not (tmp_path / "out").exists()


def test_a_folder_that_was_named_is_meant(invoke, tmp_path):
    """A slip in the name must not end in a page about other data."""
    command = ("uci", "--quick", "--data-home", tmp_path / "slip", "--out", tmp_path / "out")
    line = one_line(invoke(*command))
    assert f"in {tmp_path / 'slip'}, which does not exist" in line
    assert f"--data-home {tmp_path / 'slip'}" in line
    assert not (tmp_path / "out").exists()


def test_committed_results_are_not_written_to_by_default():
    """A stranger's first run shall not change what the repository holds."""
    (out,) = (option for option in reproduce.params if option.name == "out")
    assert out.default.name != "results"


def test_failed_trials_are_named_and_the_rest_is_shown(invoke, tmp_path, monkeypatch):
    original = runner.run_trial

    def fail_once(trial, data_home):
        if trial.method == "svd-unit":
            raise ValueError("no\nluck")
        return original(trial, data_home)

    monkeypatch.setattr(runner, "run_trial", fail_once)
    done = invoke("figures", "--quick", "--embedded", "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 1
    assert "3 trials failed" in done.stderr
    assert "toy toy '2' main, repetition 0, svd-unit, r = 2: ValueError: no luck" in done.stderr
    assert (tmp_path / "report.html").exists()
    monkeypatch.setattr(runner, "run_trial", original)
    done = invoke("figures", "--quick", "--embedded", "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 0
    assert "9 of 12 trials are done" in done.output


def test_figures_need_no_data(invoke, tmp_path, monkeypatch):
    tiny = replace(ExperimentPlan(), toy_draws=2, solver_steps=20)
    monkeypatch.setattr("paper.plan.ExperimentPlan", lambda: tiny)
    assert invoke("figures", "--jobs", 1, "--out", tmp_path).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("tables",), "'tables' is not one of"),
        (("figures", "--repetitions", "0"), "0 is not in the range x>=1"),
        (("figures", "--jobs", "two"), "'two' is not a valid integer"),
        ((), "Missing argument"),
    ],
)
def test_wrong_arguments(invoke, arguments, complaint):
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_out_is_a_file(invoke, tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    done = invoke("figures", "--out", path)
    assert done.exit_code == 2
    assert "is a file" in done.stderr
    assert path.read_text() == "mine"


def test_out_is_below_a_file(invoke, tmp_path):
    (tmp_path / "file").touch()
    assert "Not a directory" in one_line(invoke("figures", "--out", tmp_path / "file" / "deeper"))


def test_where_nobody_may_write_is_told_before_the_work(invoke, tmp_path, monkeypatch):
    out = tmp_path / "DENIED"
    out.mkdir()

    def denied(path):
        assert path.parent == out
        raise PermissionError(13, "Permission denied", str(path))

    def work(*_args, **_options):
        raise AssertionError("The work has begun.")

    monkeypatch.setattr("sphericalpca.cli.outputs.check_writable", denied)
    monkeypatch.setattr("paper.reproduction.run", work)
    line = one_line(invoke("figures", "--quick", "--embedded", "--out", out))
    assert line.startswith(f"Error: {out} cannot be written (Permission denied): free some space")


def test_report_without_rows(invoke, tmp_path):
    line = one_line(invoke("report", "--out", tmp_path))
    assert "python -m paper reproduce" in line
    assert list(tmp_path.iterdir()) == []


def test_rows_file_of_another_kind(invoke, tmp_path):
    (tmp_path / "rows.csv").write_text("not,ours\n")
    assert "is not a rows file" in one_line(invoke("figures", "--quick", "--out", tmp_path))
    assert (tmp_path / "rows.csv").read_text() == "not,ours\n"


@pytest.mark.parametrize("package", ["pandas", "jinja2", "matplotlib"])
def test_a_missing_package_is_named_with_the_remedy(tmp_path, package):
    program = (
        f"import sys; sys.modules[{package!r}] = None; from paper.__main__ import main; main()"
    )
    command = [sys.executable, "-c", program, "reproduce", "figures", "--out", str(tmp_path / "o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert package in line
    assert "pip install --editable .[cli,pages] --group paper" in line
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("package", ["sphericalpca", "click", "rich"])
def test_without_the_environment_one_line_says_how_to_make_it(package):
    program = (
        f"import sys; sys.modules[{package!r}] = None; from paper.__main__ import main; main()"
    )
    command = [sys.executable, "-c", program, "datasets"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {package} is not installed")
    assert "run `make demo` first, then `.venv/bin/python -m paper ...`" in line


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
    assert "Give the same command to go on" in err
    assert "Traceback" not in err
    assert Journal(tmp_path / "rows.csv").rows
